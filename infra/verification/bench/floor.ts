/**
 * The floor: one process with nothing but node:http and pg that executes the statements of an operation on the tables of
 * Tocsin and responds with the rows as JSON. It has no gateway, authentication, limits, validation or events.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { columnsOf } from '../statements/copy-rows.ts';

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });

/** The names of columns, for a select list; those of a new row are copies of the first row. */
async function statementsOf(table: string, set: Readonly<Record<string, string>>) {
  const columns = await columnsOf(pool, table);
  const { rows: first } = await pool.query<{ workspace: string; id: string }>(
    `select workspace_id::text as workspace, id::text from ${table} order by workspace_id, id limit 1`,
  );
  const names = columns.map((name) => `"${name}"`).join(', ');
  const values = columns.map((name) => set[name] ?? `original."${name}"`).join(', ');
  return {
    columns: `id, ${names}`,
    insert: `insert into ${table} (${names}) select ${values} from ${table} as original
      where workspace_id = ${first[0]?.workspace} and id = ${first[0]?.id}
      returning id, ${names}`,
  };
}

const incident = await statementsOf('incident.incidents', {
  workspace_id: '$1::bigint',
  number: '(select number from numbered)',
});
const event = await statementsOf('incident.timeline_events', {
  workspace_id: '$1::bigint',
  incident_id: '(select id from changed)',
});
const list = (where = '') => `select ${incident.columns} from incident.incidents
  where workspace_id = $1 and $2::bigint is not null and archived_at is null ${where} order by created_at desc, id desc limit 51`;

/** By path; the parameters are the IDs of workspace and incident. */
const STATEMENTS: Readonly<Record<string, string>> = {
  '/get': `select ${incident.columns} from incident.incidents where workspace_id = $1 and id = $2`,
  '/list': list(),
  '/filtered': list(`and status = 'open' and severity = 'sev2'`),
  '/timeline-list': `select ${event.columns} from incident.timeline_events where workspace_id = $1 and incident_id = $2
    order by started_at, id limit 51`,
  '/timeline-add': `with changed as (
      update incident.incidents set revision = revision + 1, event_count = event_count + 1
      where workspace_id = $1 and id = $2 returning id
    ) ${event.insert}`,
  '/patch': `update incident.incidents set title = 'Another title', revision = revision + 1
    where workspace_id = $1 and id = $2 returning ${incident.columns}`,
  '/create': `with numbered as (
      insert into incident.incident_counters as counter (workspace_id, last, configuration_version)
      select $1::bigint, 1, 0 where $2::bigint is not null
      on conflict (workspace_id) do update set last = counter.last + 1 returning last as number
    ) ${incident.insert}`,
};

const server = http.createServer((request, response) => {
  const { pathname: name, searchParams } = new URL(request.url ?? '/', 'http://floor');
  const values = [searchParams.get('workspace'), searchParams.get('incident')];
  request.resume();
  request.once('end', () => {
    pool.query<pg.QueryResultRow>({ name, text: STATEMENTS[name] ?? '', values }).then(
      ({ rows }) => {
        const body = Buffer.from(JSON.stringify({ rows }));
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
        response.end(body);
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit());
