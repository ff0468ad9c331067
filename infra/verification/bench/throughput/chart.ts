import type { Growth } from './growth.ts';

const WIDTH = 640;
const HEIGHT = 320;
const MARGIN = { left: 64, right: 96, top: 24, bottom: 40 };
const SERIES = [
  { name: 'create', color: '#c2410c' },
  { name: 'list', color: '#1d4ed8' },
  { name: 'get', color: '#15803d' },
] as const;
const LINES = 5;

/** Draws the CPU time of each operation over the number of incidents, as SVG. */
export function growthChart(growth: readonly Growth[]): string {
  const highest = Math.max(...growth.flatMap(({ cpu }) => Object.values(cpu)));
  const top = Math.ceil(highest / 500) * 500;
  const [first, last] = [growth[0], growth.at(-1)];
  if (first === undefined || last === undefined) throw new Error('there is nothing to draw');
  const span = Math.log10(last.incidents / first.incidents);
  const x = (incidents: number) =>
    MARGIN.left + (Math.log10(incidents / first.incidents) / span) * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (cpu: number) => HEIGHT - MARGIN.bottom - (cpu / top) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const grid = Array.from({ length: LINES + 1 }, (_, index) => (top / LINES) * index).flatMap((value) => [
    `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y(value)}" y2="${y(value)}" stroke="#ddd"/>`,
    `<text x="${MARGIN.left - 8}" y="${y(value) + 4}" text-anchor="end">${value.toLocaleString('en')}</text>`,
  ]);
  const labels = growth.map(
    ({ incidents }) =>
      `<text x="${x(incidents)}" y="${HEIGHT - MARGIN.bottom + 20}" text-anchor="middle">${incidents.toLocaleString('en')}</text>`,
  );
  const lines = SERIES.flatMap(({ name, color }) => {
    const points = growth.map(({ incidents, cpu }) => `${x(incidents).toFixed(1)},${y(cpu[name]).toFixed(1)}`);
    return [
      `<polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`,
      `<text x="${WIDTH - MARGIN.right + 8}" y="${y(last.cpu[name]) + 4}" fill="${color}">${name}</text>`,
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<title>Microseconds of CPU for a request, by incidents in the database</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${[...grid, ...labels, ...lines].join('\n')}
</svg>
`;
}
