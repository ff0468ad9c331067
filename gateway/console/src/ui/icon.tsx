/** Strokes on a field of 16 by 16. */
const PATHS = {
  incidents: 'M8 2.2 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.1',
  chart: 'M2 14V2M2 14h12M5 11V8M8.5 11V4.5M12 11V6.5',
  tasks: 'M2.500 3.700l1 1 2-2M2.500 12l1 1 2-2M2.500 8l1 1 2-2M8.500 4H14M8.500 8.200H14M8.500 12.300H14',
  services: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5v.1M5 11v.1',
  fields: 'M3 4h10M3 8h10M3 12h6',
  webhooks: 'M6 5.5A2.5 2.5 0 1 1 9 7.8L11 11.5M8 8 5.5 12M3 10.5a2.5 2.5 0 1 0 3 3h5.5a2.5 2.5 0 1 0-1-3',
  send: 'M14 2 2 6.500l4.500 3L14 2 9.500 14l-3-4.500z',
  users:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 14c0-2.8 2-4.5 4.5-4.5s4.5 1.7 4.5 4.5M11 3a2.5 2.5 0 0 1 0 4.6M12.5 10c1.3.7 2 2.100 2 4',
  key: 'M10.500 8.500a3.500 3.500 0 1 0-3.200-2.100L2 11.700V14h2.500v-1.800h1.800v-1.800h1.200l.8-.9a3.500 3.500 0 0 0 2.200 0zM11.200 4.800v.1',
  settings: 'M2 4.500h7M12 4.500h2M2 11.500h2M7 11.500h7M10.500 3v3M5.500 10v3',
  start: 'M3 13.500V2.500M3 3h9.500l-2 3 2 3H3',
  book: 'M3.500 12.500V3.500a1 1 0 0 1 1-1h8v11h-8a1 1 0 0 1 0-2h8M6 5.500h4',
  plus: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.500 6.500 12 13 4.500',
  edit: 'M3 13l.7-3L11 2.700 13.300 5 6 12.300zM9.500 4.200l2.300 2.300',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.700 10.700 14 14',
  menu: 'M2 4h12M2 8h12M2 12h12',
  alert: 'M8 14.500a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13zM8 4.700v4M8 11v.1',
  calm: 'M8 14.500a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13zM5.500 9.500c.7 1 1.500 1.500 2.500 1.500s1.800-.5 2.500-1.500M6 6v.1M10 6v.1',
  offline:
    'M2 2l12 12M4.500 8.800a5 5 0 0 1 2-1.200M1.500 6a9.500 9.500 0 0 1 3-2M7.500 3a9.500 9.500 0 0 1 7 3M10.500 8a5 5 0 0 1 1 .8M8 12.500v.1',
  lock: 'M3.500 7h9v6.500h-9zM5.500 7V4.800a2.500 2.500 0 0 1 5 0V7',
  clip: 'M13 7.500 7.500 13a3 3 0 0 1-4.300-4.300L9 3a2 2 0 0 1 2.900 2.900L6.300 11.500a1 1 0 0 1-1.500-1.500L9.500 5.500',
  flag: 'M4 14V2.500h8L10.500 6 12 9.500H4',
  out: 'M6.500 2.500h-4v11h4M6 8h8M11 5l3 3-3 3',
  theme: 'M8 14.500a6.500 6.500 0 1 0 0-13zM8 14.500a6.500 6.500 0 0 1 0-13z',
  back: 'M13 8H3M7 4 3 8l4 4',
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth={size > 20 ? 1 : 1.4}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d={PATHS[name]} />
  </svg>
);
