/**
 * `npm run bench:readers`: opens streams of the event feed through a real gateway, on a system of its own, and prints
 * what they cost. Arguments: the number of readers and of workspaces; by default 1,000 and 12. Needs Linux, PostgreSQL,
 * RabbitMQ and Redis.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, openEventStream, type StreamReader } from '@tocsin/testing';
import type { AppName } from '../../../apps.ts';
import type { Workspace } from '../../systems/workspaces.ts';
import { memoryOf } from '../../systems/processes.ts';
import { send } from '../../systems/send.ts';
import { runOnTarget } from '../../systems/run-on-target.ts';
import type { Target } from '../../systems/target.ts';

const [readers = 1_000, workspaces = 12] = process.argv.slice(2).map(Number);
/** Milliseconds in which nothing happens. */
const IDLE = 30_000;
/** A client network may have 1,000 connections. */
const READERS_OF_ADDRESS = 500;
const APPS: readonly AppName[] = ['gateway', 'webhook'];

/** The resident memory of the two processes that a stream passes, in MiB. */
async function memory(target: Target): Promise<number[]> {
  const processes = await target.processes();
  return Promise.all(APPS.map(async (app) => (await memoryOf(processes.get(app) ?? 0))?.now ?? NaN));
}

/** The waiting requests that both processes report. */
async function waiting(target: Target): Promise<number[]> {
  const metrics = await Promise.all(
    APPS.map(async (app) => (await fetch(new URL('/metrics', target.internalUrl(app)))).text()),
  );
  return metrics.map((text) => Number(/^tocsin_\w+_waiting_requests\S* (\d+)$/m.exec(text)?.[1]));
}

/** Statements outside of transactions, and transactions, of the system's database while nothing happens. */
async function transactions(target: Target): Promise<number> {
  const count = async () => {
    // Sessions report them with a delay.
    await delay(2_000);
    const { rows } = await target.sql.query<{ count: number }>(
      'select (xact_commit + xact_rollback)::integer as count from pg_stat_database where datname = current_database()',
    );
    return rows[0]?.count ?? NaN;
  };
  const before = await count();
  await delay(IDLE);
  return (await count()) - before;
}

/** Opens them side by side: a stream ends after a minute and a half. */
async function openAll(target: Target, tenants: readonly Workspace[]): Promise<StreamReader[]> {
  const open: StreamReader[] = [];
  let next = 0;
  const openNext = async () => {
    while (next < readers) {
      const index = next;
      next += 1;
      const tenant = tenants[index % tenants.length];
      if (tenant === undefined) throw new Error('there is no workspace');
      const reader = await openEventStream(
        new URL('/api/v1/events', `http://${target.gateway.host}:${target.gateway.port}`),
        { Host: tenant.host, Authorization: `Bearer ${tenant.token}` },
        `127.0.0.${2 + Math.floor(index / READERS_OF_ADDRESS)}`,
      );
      if (reader.response.statusCode !== 200) throw new Error(`reader ${index} got ${reader.response.statusCode}`);
      open.push(reader);
    }
  };
  await Promise.all(Array.from({ length: 20 }, openNext));
  return open;
}

async function run(target: Target): Promise<void> {
  const tenants = await Array.fromAsync({ length: workspaces }, target.createWorkspace);
  const begin = async (tenant: Workspace) =>
    send(target.gateway, tenant, {
      method: 'POST',
      path: '/api/v1/incidents',
      body: { title: 'Checkout is down' },
      signal: AbortSignal.timeout(30_000),
    });
  for (const tenant of tenants) await begin(tenant);
  const idle = await transactions(target);
  const before = await memory(target);

  const open = await openAll(target, tenants);
  const after = await memory(target);
  console.log(
    `${readers} streams in ${workspaces} workspaces; waiting at ${APPS.join(' and ')}: ${(await waiting(target)).join(', ')}`,
  );
  APPS.forEach((app, index) =>
    console.log(`${app}: ${before[index]?.toFixed(0)} MiB before, ${after[index]?.toFixed(0)} MiB with the streams`),
  );
  const start = performance.now();
  for (const tenant of tenants) await begin(tenant);
  const reached = () => open.filter(({ messages }) => messages.length > 0).length;
  await eventually(() => reached() === open.length, { what: 'an event for every reader' });
  console.log(`an event in each workspace reached all readers after ${(performance.now() - start).toFixed(0)} ms`);

  const withReaders = await transactions(target);
  console.log(`database: ${idle} transactions in ${IDLE / 1_000} s without streams, ${withReaders} with them`);
  for (const reader of open) reader.close();
  await eventually(async () => (await waiting(target)).every((count) => count === 0), {
    what: 'the end of all streams',
  });
}

await runOnTarget(run);
