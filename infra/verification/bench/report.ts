import type { Growth } from './growth.ts';
import type { ReplicaResults } from './replicas.ts';
import { type Sample, total } from './measure.ts';

/** The samples of an operation, by target: `Tocsin`, `floor`, `behind a proxy`, and the peer. */
export interface OperationResult {
  name: string;
  clients: number;
  samples: Record<string, Sample>;
}

interface Conditions {
  machine: string;
  date: string;
}

const number = (value: number | undefined, digits = 0): string =>
  value?.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }) ?? '–';

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

/** Microseconds of CPU. */
const SHOWN_FROM = 30;

/** Renders the results as Markdown. */
export function render({ machine, date, operations }: Conditions & { operations: readonly OperationResult[] }): string {
  const targets = [...new Set(operations.flatMap(({ samples }) => Object.keys(samples)))].filter(
    (name) => name !== 'Tocsin',
  );
  const most = Math.max(...operations.map(({ clients }) => clients).filter((clients) => clients <= 16));
  const ofMost = operations.filter(({ clients }) => clients === most);
  const cpuOf = (group: string) => ofMost.map(({ samples }) => samples['Tocsin']?.cpu[group] ?? 0);
  const groups = [...new Set(ofMost.flatMap(({ samples }) => Object.keys(samples['Tocsin']?.cpu ?? {})))].filter(
    (group) => Math.max(...cpuOf(group)) >= SHOWN_FROM,
  );
  return [
    `Measured ${date} on ${machine}.`,
    '### Requests',
    table(
      [
        ...['operation', 'clients', 'Tocsin, 1/s', 'p50, ms', 'p99, ms', 'CPU, µs'],
        ...targets.flatMap((name) => [`${name}, 1/s`, `Tocsin / ${name}`]),
      ],
      operations.map(({ name, clients, samples }) => {
        const { perSecond = 0, p50, p99, cpu = {} } = samples['Tocsin'] ?? {};
        return [
          ...[name, number(clients), number(perSecond), number(p50, 1), number(p99, 1), number(total(cpu))],
          ...targets.flatMap((target) => {
            const other = samples[target]?.perSecond;
            return [number(other), number(other === undefined ? undefined : perSecond / other, 2)];
          }),
        ];
      }),
    ),
    `### CPU by process, with ${most} clients`,
    `Microseconds a request, with what follows the response; processes with at least ${SHOWN_FROM}.`,
    table(
      ['operation', 'floor', 'behind a proxy', ...groups],
      ofMost.map(({ name, samples }) => [
        name,
        number(total(samples['floor']?.cpu ?? {})),
        number(total(samples['behind a proxy']?.cpu ?? {})),
        ...groups.map((group) => number(samples['Tocsin']?.cpu[group])),
      ]),
    ),
  ].join('\n\n');
}

/** Renders a large installation beside a small one as Markdown. */
export function renderGrowth({ machine, date, growth }: Conditions & { growth: Growth }): string {
  const { workspaces, incidents, sizes, cpu, tasks } = growth;
  const [small = '', ...others] = Object.keys(sizes);
  const sizeOf = (name: string) => `${name}, ${number(sizes[name])}`;
  return [
    `Measured ${date} on ${machine}: ${number(workspaces)} workspaces with ${number(incidents)} incidents, beside ten
    with 10,000.`,
    'Microseconds of CPU a request, of the apps and their sessions in PostgreSQL, by the incidents of the workspace:',
    table(
      ['operation', ...Object.keys(sizes).map(sizeOf), 'highest ratio'],
      Object.entries(cpu).map(([operation, used]) => [
        ...[operation, ...Object.keys(sizes).map((name) => number(used[name]))],
        number(Math.max(...others.map((name) => (used[name] ?? 0) / (used[small] ?? 0))), 2),
      ]),
    ),
    table(
      ['what', small, `${number(workspaces)} workspaces`],
      Object.entries(tasks.large).map(([name, value]) => [
        ...[
          name,
          ...[tasks.small[name], value].map((each) => number(each === 0 ? undefined : each, (each ?? 0) < 100 ? 1 : 0)),
        ],
      ]),
    ),
  ].join('\n\n');
}

/** Renders requests a second of several processes of each app as Markdown. */
export function renderReplicas({ machine, date, replicas }: Conditions & { replicas: ReplicaResults }): string {
  const { percent, operations } = replicas;
  const counts = Object.keys(Object.values(operations)[0] ?? {}).map(Number);
  return [
    `Measured ${date} on ${machine}, each process with ${percent} % of a core, with 16 clients for each gateway: requests
    a second, and their ratio to as many times those of one.`,
    table(
      ['operation', ...counts.map((count) => `${count} of each app`)],
      Object.entries(operations).map(([name, rates]) => [
        name,
        ...counts.map((count) => {
          const [rate = 0, one = 0] = [rates[count], rates[1]];
          return count === 1 ? number(rate) : `${number(rate)} (${number(rate / (count * one), 2)})`;
        }),
      ]),
    ),
  ].join('\n\n');
}
