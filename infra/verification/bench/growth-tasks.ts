import { eventually } from '@tocsin/testing';
import { runAdmin } from '../../admin/run-admin.ts';
import { findProcesses, memoryOf } from '../systems/processes.ts';
import type { Filled } from './growth-data.ts';
import { numberOf, rateOfEnd, WITHIN } from './growth-rates.ts';
import type { RunLoad } from './processes.ts';
import { headersOf } from './world.ts';

/** What an installation does besides requests: values by names with their units; 0 is too fast to be measured. */
export type Tasks = Record<string, number>;

/** Events that are put into the outbox, in turns of the workspaces. */
const EVENTS = 10_000;
/** Seconds for which a measurement of storage is watched. */
const WATCHED = 30;
/** As a migration creates one. */
const INDEX = 'create index concurrently growth on incident.incidents (workspace_id, status_changed_at, id)';

/** The apps whose schemas and memory grow most. */
const LARGE = ['gateway', 'incident', 'webhook'];

/** Measures what the processes do by themselves, and what operators run. Begin as soon as they are ready. */
export async function measureTasks(filled: Filled, runLoad: RunLoad): Promise<Tasks> {
  const { seconds, system, sweeps } = filled;
  const { sql } = system;
  const [events = 0, keys = 0] = await sweeps;
  const tasks: Tasks = {
    'copies of rows, s': seconds.copying,
    'start of all processes, s': seconds.start,
    'expired events deleted, 1/s': events,
    'expired idempotency keys deleted, 1/s': keys,
  };
  for (const schema of LARGE) {
    const size = `select sum(pg_total_relation_size(oid))::float8 as number from pg_class
      where relnamespace = '${schema}'::regnamespace and relkind = 'r'`;
    tasks[`size of the schema ${schema}, MiB`] = (await numberOf(sql, size)) / 1_048_576;
  }
  tasks['first requests of all workspaces, 1/s'] = await firstRequests(filled, runLoad);
  for (const [app, pid] of await findProcesses(system.pid))
    if (LARGE.includes(app)) tasks[`memory of ${app} after these, MiB`] = (await memoryOf(pid))?.now ?? 0;
  tasks['events from the outbox to the feed, 1/s'] = await relay(filled);
  tasks['incidents whose storage is measured, 1/s'] = await storage(filled);
  tasks['doctor, s'] = await secondsOf(async () => {
    const { output, error } = await runAdmin(['doctor', '--json'], system.env);
    const { result = error } = JSON.parse(output ?? '{}') as { result?: string };
    if (result !== 'healthy') throw new Error(`the doctor: ${output ?? error}`);
  });
  tasks['index on the incidents, s'] = await secondsOf(async () => sql.query(INDEX));
  console.error(tasks);
  return tasks;
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

/** Requests a second: each workspace lists its incidents for the first time. */
async function firstRequests({ system, sizes, workspace }: Filled, runLoad: RunLoad): Promise<number> {
  const requests = sizes.map((_, index) => ({
    ...{ method: 'GET' as const, path: '/api/v1/incidents?limit=1', headers: headersOf(workspace(index)) },
  }));
  const { seconds } = await runLoad({ origin: system.origin, clients: 10, requests, count: requests.length });
  return requests.length / seconds;
}

/** Events a second. */
async function relay({ system, sizes, workspace }: Filled): Promise<number> {
  const ids = Array.from({ length: EVENTS }, (_, index) => workspace(index % sizes.length).id);
  await system.sql.query(
    `insert into incident.outbox (message_id, type, body, workspace_id)
     select new_id, type, jsonb_set(jsonb_set(body::jsonb, '{id}', to_jsonb(new_id)), '{workspace,id}', to_jsonb(id))::text, id
     from unnest($1::bigint[]) as given (id)
     cross join lateral (select gen_random_uuid() as new_id, given.id as of) as new
     cross join lateral (
       select type, body from webhook.feed_events
       where workspace_id = given.id and type = 'incident.updated' order by position desc limit 1) as event`,
    [ids],
  );
  const published = await rateOfEnd(system.sql, 'select count(*)::float8 as number from incident.outbox');
  await system.drained();
  return published;
}

/** Incidents a second, in the biggest workspace. */
async function storage({ system: { sql }, workspace, sizes: [size = 0] }: Filled): Promise<number> {
  const { rows } = await sql.query<{ id: string; at: string }>(
    'update incident.workspace_storage set due_at = now() where workspace_id = $1 returning workspace_id as id, due_at as at',
    [workspace(0).id],
  );
  const next = `select case when measured_at > $2 then ${size} else next_number end::float8 as number
    from incident.workspace_storage where workspace_id = $1`;
  let first: { number: number; at: number } | undefined;
  return eventually(
    async () => {
      const number = await numberOf(sql, next, [rows[0]?.id, rows[0]?.at]);
      if (number > 0) first ??= { number, at: performance.now() };
      const seconds = first === undefined ? 0 : (performance.now() - first.at) / 1_000;
      if (number < size && seconds < WATCHED) return undefined;
      return seconds === 0 ? 0 : (number - (first?.number ?? 0)) / seconds;
    },
    { within: WITHIN, what: 'a measurement' },
  );
}
