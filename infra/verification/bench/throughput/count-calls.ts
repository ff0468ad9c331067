import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createLogger, openRedis } from '@tocsin/runtime';
import { testServers } from '@tocsin/testing';
import { APP_NAMES, APPS } from '../../../apps.ts';
import type { BenchCase } from './cases.ts';
import { type Bench, readRevisions } from './run-case.ts';
import type { StatementProxy } from './statement-proxy.ts';

/** What one request of a case does, what follows its response included. */
export interface CallCounts {
  name: string;
  /** By app. */
  statements: Record<string, number>;
  redisCommands: number;
  /** System calls of gateway and incident service; undefined: strace is not installed or not allowed. */
  systemCalls: { gateway: number; incident: number } | undefined;
}

const REQUESTS = 1_000;
const CLIENTS = 16;

/** @param bench a system whose connections to Postgres go through `proxy` */
export async function countCalls(
  bench: Bench,
  proxy: StatementProxy,
  cases: readonly BenchCase[],
): Promise<CallCounts[]> {
  const results: CallCounts[] = [];
  for (const benchCase of cases) {
    const requests = benchCase.requests(bench.world);
    const run = async () => {
      await readRevisions(bench, requests);
      await bench.load.run({
        addresses: bench.system.addresses,
        clients: CLIENTS,
        requests,
        seconds: Number.MAX_SAFE_INTEGER,
        count: REQUESTS,
      });
      if (benchCase.hasTail) await bench.system.drained();
    };
    await bench.system.drained();
    const statements = proxy.counts();
    const commands = await redisCommands();
    await run();
    // Reading the counter is a command, too.
    const redis = ((await redisCommands()) - commands - 1) / REQUESTS;
    const counted = proxy.counts();
    results.push({
      name: benchCase.name,
      statements: Object.fromEntries(
        APP_NAMES.map((name) => {
          const role = `tocsin_${APPS[name].schema.name}`;
          return [name, ((counted.get(role) ?? 0) - (statements.get(role) ?? 0)) / REQUESTS];
        }),
      ),
      redisCommands: redis,
      systemCalls: await countSystemCalls(bench, run),
    });
  }
  return results;
}

async function redisCommands(): Promise<number> {
  const log = createLogger({ app: 'bench', level: 'silent' });
  const redis = openRedis({ url: testServers().redisUrl ?? '', namespace: 'unused', log });
  try {
    await once(redis, 'ready');
    const text = await redis.info('stats');
    return Number(/total_commands_processed:(\d+)/.exec(text)?.[1] ?? 0);
  } finally {
    redis.disconnect();
  }
}

const runFile = promisify(execFile);

async function countSystemCalls(bench: Bench, run: () => Promise<void>): Promise<CallCounts['systemCalls']> {
  const isInstalled = await runFile('strace', ['-V']).then(
    () => true,
    () => false,
  );
  if (!isInstalled) return undefined;
  const groups = await bench.system.groups();
  const traces = (['gateway', 'incident'] as const).map((name) => trace(groups.get(name)?.[0] ?? 0));
  await delay(ATTACH);
  await run();
  const [gateway, incident] = await Promise.all(traces.map(async ({ end }) => end()));
  return gateway === undefined || incident === undefined
    ? undefined
    : { gateway: gateway / REQUESTS, incident: incident / REQUESTS };
}

/** Milliseconds after which strace has surely attached. */
const ATTACH = 1_000;

function trace(pid: number): { end: () => Promise<number | undefined> } {
  const child = spawn('strace', ['-c', '-f', '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()));
  return {
    end: async () => {
      child.kill('SIGINT');
      if (child.exitCode === null) await once(child, 'close');
      // The last line has the percentage, the seconds, the microseconds of a call and the calls.
      const words = output.trim().split('\n').at(-1)?.trim().split(/ +/) ?? [];
      return words.at(-1) === 'total' ? Number(words[3]) : undefined;
    },
  };
}
