import type { CallCounts } from './count-calls.ts';
import type { Growth } from './growth.ts';
import { PEER_NAME } from './peer.ts';
import { type CaseResult, total } from './run-case.ts';
import type { ReplicaResult } from './replicas.ts';
import type { TailResult } from './tail.ts';

/** Everything that the bench measured. */
export interface Report {
  machine: string;
  date: string;
  cases: CaseResult[];
  calls: CallCounts[];
  tail: TailResult;
  /** Resident MiB of each process: before any request, at the first start of a checkout and at a later one; afterwards. */
  memory: {
    firstStart: Record<string, number>;
    atRest: Record<string, number>;
    /** As `atRest`, but pages that several processes have count in part. */
    shares: Record<string, number>;
    afterwards: Record<string, number>;
    requests: number;
  };
  growth: Growth[] | undefined;
  replicas: ReplicaResult[] | undefined;
}

const number = (value: number, digits = 0): string =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

/** Renders the results as Markdown. */
export function render({ machine, date, cases, calls, tail, memory, growth, replicas }: Report): string {
  const groups = [...new Set(cases.flatMap(({ tocsin }) => Object.keys(tocsin.cpu)))];
  const hasPeer = cases.some(({ peer }) => peer !== undefined);
  const most = Math.max(...cases.map(({ clients }) => clients).filter((clients) => clients <= 16));
  return [
    `Measured ${date} on ${machine}.`,
    '### Requests',
    table(
      [
        'operation',
        'clients',
        'floor, 1/s',
        'behind a proxy, 1/s',
        'Tocsin, 1/s',
        'ratio',
        'p50, ms',
        'p99, ms',
        'CPU, µs',
        'of it after the response',
        ...(hasPeer ? [`${PEER_NAME}, 1/s`, `Tocsin / ${PEER_NAME}`] : []),
      ],
      cases.map(({ name, clients, floor, proxied, tocsin, ratio, peer }) => [
        name,
        number(clients),
        number(floor.perSecond),
        number(proxied.perSecond),
        number(tocsin.perSecond),
        number(ratio, 2),
        number(tocsin.p50, 1),
        number(tocsin.p99, 1),
        number(total(tocsin.cpu)),
        number(tocsin.tail),
        ...(hasPeer
          ? [
              peer === undefined ? '–' : number(peer.perSecond),
              peer === undefined ? '–' : number(tocsin.perSecond / peer.perSecond, 2),
            ]
          : []),
      ]),
    ),
    `### CPU by process, with ${most} clients`,
    'Microseconds a request.',
    table(
      ['operation', 'floor with Postgres', 'bare proxy', ...groups],
      cases
        .filter(({ clients }) => clients === most)
        .map(({ name, floor, proxied, tocsin }) => [
          name,
          number(total(floor.cpu)),
          number(proxied.cpu['proxy'] ?? 0),
          ...groups.map((group) => number(tocsin.cpu[group] ?? 0)),
        ]),
    ),
    '### Calls for a request',
    table(
      [
        'operation',
        ...Object.keys(calls[0]?.statements ?? {}).map((name) => `SQL, ${name}`),
        'Redis',
        'system calls, gateway',
        'system calls, incident',
      ],
      calls.map(({ name, statements, redisCommands, systemCalls }) => [
        name,
        ...Object.values(statements).map((value) => number(value, 1)),
        number(redisCommands, 1),
        systemCalls === undefined ? 'not measured' : number(systemCalls.gateway, 1),
        systemCalls === undefined ? 'not measured' : number(systemCalls.incident, 1),
      ]),
    ),
    '### After the response',
    table(
      ['what', 'value'],
      [
        ['events a second from the outbox to the feed, which no subscription wants', number(tail.recorded)],
        ['CPU of RabbitMQ for one of them, µs', number(tail.broker.tocsin)],
        ['CPU of RabbitMQ for a message of that size between two bare channels, µs', number(tail.broker.bare)],
        [`201 → receiver, p50 of ${tail.delivery.count}, ms`, number(tail.delivery.p50)],
        ['201 → receiver, p99, ms', number(tail.delivery.p99)],
      ],
    ),
    '### Memory',
    'Resident MiB.',
    table(
      ['when', ...Object.keys(memory.atRest)],
      [
        ['at rest, first start', ...Object.values(memory.firstStart).map((value) => number(value))],
        ['at rest, later starts', ...Object.values(memory.atRest).map((value) => number(value))],
        ['the same, shared pages in part', ...Object.values(memory.shares).map((value) => number(value))],
        [
          `after ${number(memory.requests)} requests`,
          ...Object.values(memory.afterwards).map((value) => number(value)),
        ],
      ],
    ),
    ...(growth === undefined
      ? []
      : [
          '### Growth',
          'Microseconds of CPU a request, all processes, with 16 clients.',
          table(
            ['incidents', 'get', 'list', 'create'],
            growth.map(({ incidents, cpu }) => [
              number(incidents),
              number(cpu.get),
              number(cpu.list),
              number(cpu.create),
            ]),
          ),
        ]),
    ...(replicas === undefined
      ? []
      : [
          '### Replicas',
          'Requests a second with so many processes of each app, with 16 clients, and their ratio to the floor.',
          table(
            ['processes of each app', ...(replicas[0]?.cases ?? []).map(({ name }) => name)],
            replicas.map(({ replicas: count, cases: own }) => [
              number(count),
              ...own.map(({ perSecond, ratio }) => `${number(perSecond)} (${number(ratio, 2)})`),
            ]),
          ),
        ]),
  ].join('\n\n');
}
