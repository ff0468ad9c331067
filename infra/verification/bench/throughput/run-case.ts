import type { BenchCase } from './cases.ts';
import { cpuTimes, type ProcessGroups, usedCpu } from './cpu.ts';
import type { FloorProcess } from './floor-process.ts';
import type { LoadProcess } from './load-process.ts';
import type { Address, LoadResult } from './messages.ts';
import type { Peer } from './peer.ts';
import type { BenchSystem } from './system.ts';
import type { World } from './world.ts';

interface Sample {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Microseconds of CPU for a request, by group of processes, until all queues were empty. */
  cpu: Record<string, number>;
  /** The part of `cpu` that was used after the last response. */
  tail: number;
}

/** The medians of several rounds. */
export interface CaseResult {
  name: string;
  clients: number;
  tocsin: Sample;
  floor: Sample;
  /** The floor behind a bare proxy. */
  proxied: Sample;
  /** parse-server, if it is measured and has such an operation. */
  peer: Sample | undefined;
  /** Requests a second, of those of the floor. */
  ratio: number;
}

export interface Bench {
  system: BenchSystem;
  floor: FloorProcess;
  load: LoadProcess;
  world: World;
  peer?: Peer;
}

/** Measures a case, its floor, the floor behind a bare proxy, and the peer, in turns. */
export async function runCase(
  bench: Bench,
  benchCase: BenchCase,
  options: { clients: number; rounds: number; seconds: number },
): Promise<CaseResult> {
  const { clients, rounds, seconds } = options;
  const { system, floor, load, world, peer } = bench;
  const requests = benchCase.requests(world);
  await readRevisions(bench, requests);
  const tocsin: Sample[] = [];
  const bare: Sample[] = [];
  const proxied: Sample[] = [];
  const others: Sample[] = [];
  const peerRequests = peer?.requests(benchCase.name);
  const measureFloor = async (address: Address, more: ProcessGroups = new Map<string, number[]>()) =>
    measure({
      groups: new Map([['floor', [floor.pid, ...(await backendsOf(bench))]], ...more]),
      run: async () => load.run({ addresses: [address], clients, requests: benchCase.floor(world), seconds }),
    });
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await measureFloor(floor.address));
    proxied.push(await measureFloor(floor.proxy.address, new Map([['proxy', [floor.proxy.pid]]])));
    tocsin.push(
      await measure({
        groups: await system.groups(),
        run: async () => {
          const result = await load.run({ addresses: system.addresses, clients, requests, seconds });
          await readRevisions(bench, requests);
          return result;
        },
        ...(benchCase.hasTail && { drained: system.drained }),
      }),
    );
    if (peer !== undefined && peerRequests !== undefined) {
      others.push(
        await measure({
          groups: new Map([['peer', [peer.pid, ...(await backendsOf(bench, peer.database))]]]),
          run: async () => load.run({ addresses: [peer.address], clients, requests: peerRequests, seconds }),
        }),
      );
    }
  }
  const result = {
    tocsin: median(tocsin),
    floor: median(bare),
    proxied: median(proxied),
    peer: others.length === 0 ? undefined : median(others),
  };
  return { name: benchCase.name, clients, ...result, ratio: result.tocsin.perSecond / result.floor.perSecond };
}

async function measure(options: {
  groups: ProcessGroups;
  run: () => Promise<LoadResult>;
  drained?: () => Promise<void>;
}): Promise<Sample> {
  const { groups, run, drained } = options;
  const processes = [...groups.values()].flat();
  const before = await cpuTimes(processes);
  const { requests, seconds, p50, p99 } = await run();
  const answered = await cpuTimes(processes);
  await drained?.();
  const after = drained === undefined ? answered : await cpuTimes(processes);
  const perRequest = (from: typeof before, to: typeof before) =>
    Object.fromEntries([...usedCpu(groups, from, to)].map(([name, used]) => [name, used / requests]));
  return {
    perSecond: requests / seconds,
    p50,
    p99,
    cpu: perRequest(before, after),
    tail: total(perRequest(answered, after)),
  };
}

export const total = (cpu: Readonly<Record<string, number>>): number =>
  Object.values(cpu).reduce((sum, used) => sum + used, 0);

/** The connections to a database, by default to Tocsin's, that the floor or the peer have. */
async function backendsOf({ system }: Bench, database?: string): Promise<number[]> {
  const { rows } = await system.sql.query<{ pid: number }>(
    `select pid from pg_stat_activity
    where datname = coalesce($1, current_database()) and usename = current_user and backend_type = 'client backend'
      and pid <> pg_backend_pid()`,
    [database ?? null],
  );
  return rows.map(({ pid }) => pid);
}

/** Requests that name a revision continue with the present one. */
export async function readRevisions({ system }: Bench, requests: { path: string; revision?: number }[]): Promise<void> {
  const versioned = requests.filter(({ revision }) => revision !== undefined);
  if (versioned.length === 0) return;
  const { rows } = await system.sql.query<{ id: number; revision: number }>(
    'select id::int, revision::int from incident.incidents',
  );
  const revisions = new Map(rows.map(({ id, revision }) => [id, revision]));
  for (const request of versioned) request.revision = revisions.get(Number(request.path.split('/').at(-1))) ?? 1;
}

const medianOf = (numbers: readonly number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
};

function median(samples: readonly Sample[]): Sample {
  const names = Object.keys(samples[0]?.cpu ?? {});
  return {
    perSecond: medianOf(samples.map(({ perSecond }) => perSecond)),
    p50: medianOf(samples.map(({ p50 }) => p50)),
    p99: medianOf(samples.map(({ p99 }) => p99)),
    cpu: Object.fromEntries(names.map((name) => [name, medianOf(samples.map(({ cpu }) => cpu[name] ?? 0))])),
    tail: medianOf(samples.map(({ tail }) => tail)),
  };
}
