/** Strokes on a field of 16 by 16. */
const PATHS = {
  incidents: 'M8 2.2 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.1',
  chart: 'M2 14V2M2 14h12M5 11V8M8.5 11V4.5M12 11V6.5',
  tasks: 'M2.5 3.7l1 1 2-2M2.5 12l1 1 2-2M2.5 8l1 1 2-2M8.5 4H14M8.5 8.2H14M8.5 12.3H14',
  services: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5v.1M5 11v.1',
  fields: 'M3 4h10M3 8h10M3 12h6',
  webhooks: 'M6 5.5A2.5 2.5 0 1 1 9 7.8L11 11.5M8 8 5.5 12M3 10.5a2.5 2.5 0 1 0 3 3h5.5a2.5 2.5 0 1 0-1-3',
  send: 'M14 2 2 6.5l4.5 3L14 2 9.5 14l-3-4.5z',
  users:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 14c0-2.8 2-4.5 4.5-4.5s4.5 1.7 4.5 4.5M11 3a2.5 2.5 0 0 1 0 4.6M12.5 10c1.3.7 2 2.1 2 4',
  key: 'M10.5 8.5a3.5 3.5 0 1 0-3.2-2.1L2 11.7V14h2.5v-1.8h1.8v-1.8h1.2l.8-.9a3.5 3.5 0 0 0 2.2 0zM11.2 4.8v.1',
  settings: 'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 3v3M5.5 10v3',
  start: 'M3 13.5V2.5M3 3h9.5l-2 3 2 3H3',
  book: 'M3.5 12.5V3.5a1 1 0 0 1 1-1h8v11h-8a1 1 0 0 1 0-2h8M6 5.5h4',
  plus: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5 6.5 12 13 4.5',
  edit: 'M3 13l.7-3L11 2.7 13.3 5 6 12.3zM9.5 4.2l2.3 2.3',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14',
  menu: 'M2 4h12M2 8h12M2 12h12',
  alert: 'M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM8 4.7v4M8 11v.1',
  calm: 'M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM5.5 9.5c.7 1 1.5 1.5 2.5 1.5s1.8-.5 2.5-1.5M6 6v.1M10 6v.1',
  offline:
    'M2 2l12 12M4.5 8.8a5 5 0 0 1 2-1.2M1.5 6a9.5 9.5 0 0 1 3-2M7.5 3a9.5 9.5 0 0 1 7 3M10.5 8a5 5 0 0 1 1 .8M8 12.5v.1',
  lock: 'M3.5 7h9v6.5h-9zM5.5 7V4.8a2.5 2.5 0 0 1 5 0V7',
  clip: 'M13 7.5 7.5 13a3 3 0 0 1-4.3-4.3L9 3a2 2 0 0 1 2.9 2.9L6.3 11.5a1 1 0 0 1-1.5-1.5L9.5 5.5',
  flag: 'M4 14V2.5h8L10.5 6 12 9.5H4',
  out: 'M6.5 2.5h-4v11h4M6 8h8M11 5l3 3-3 3',
  theme: 'M8 14.5a6.5 6.5 0 1 0 0-13zM8 14.5a6.5 6.5 0 0 1 0-13z',
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
