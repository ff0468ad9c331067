/**
 * The floor: one process with nothing but node:http and pg that executes the statements of an operation on the tables of
 * Tocsin and responds with the rows as JSON. It has no gateway, authentication, limits, validation or events.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

const POOL_SIZE = 10;

/** Inserts of copies of a row. */
interface Copies {
  /** The names of all columns, for a select list. */
  columns: string;
  /**
   * The statement for a copy with a new ID.
   * @param values expressions for columns that differ from the copied row
   */
  insert(values: Readonly<Record<string, string>>): { text: string; bindings: (string | null)[] };
}

/** The first parameters of an insert: workspace and incident. */
const IDS = 2;

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: POOL_SIZE });

/** @param id of the row that is copied; it is read once, as text */
async function copiesOf(table: string, id: number): Promise<Copies> {
  const { rows: columns } = await pool.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname <> 'id' and attgenerated = '' order by attnum`,
    [table],
  );
  const texts = columns.map(({ name }) => `"${name}"::text as "${name}"`).join(', ');
  const { rows } = await pool.query<Record<string, string | null>>(`select ${texts} from ${table} where id = $1`, [id]);
  const row = rows[0] ?? {};
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  return {
    columns: `id, ${names}`,
    insert: (values) => {
      const bindings: (string | null)[] = [];
      const expressions = columns.map(
        ({ name, type }) => values[name] ?? `$${bindings.push(row[name] ?? null) + IDS}::${type}`,
      );
      return { text: `insert into ${table} (${names}) select ${expressions.join(', ')}`, bindings };
    },
  };
}

/** The operations by their paths. `url` has the IDs of workspace and incident. */
type Operation = (ids: { workspace: string; incident: string }) => Promise<unknown>;

async function operations(): Promise<Record<string, Operation>> {
  const { rows: templates } = await pool.query<{ incident: number; event: number }>(
    `select (select min(id) from incident.incidents)::int as incident, (select min(id) from incident.timeline_events)::int as event`,
  );
  const [template = { incident: 0, event: 0 }] = templates;
  const incident = await copiesOf('incident.incidents', template.incident);
  const event = await copiesOf('incident.timeline_events', template.event);
  const query = async (name: string, text: string, values: unknown[]) => {
    const { rows } = await pool.query<pg.QueryResultRow>({ name, text, values });
    return rows;
  };

  const newIncident = incident.insert({ workspace_id: '$1::bigint', number: '(select number from numbered)' });
  const insertIncident = `with numbered as (
      insert into incident.incident_counters as counter (workspace_id, last, configuration_version)
      select $1::bigint, 1, 0 where $2::bigint is not null
      on conflict (workspace_id) do update set last = counter.last + 1 returning last as number
    ) ${newIncident.text} returning ${incident.columns}`;
  const newEvent = event.insert({ workspace_id: '$1::bigint', incident_id: '(select id from changed)' });
  const insertEvent = `with changed as (
      update incident.incidents set revision = revision + 1, event_count = event_count + 1
      where workspace_id = $1::bigint and id = $2::bigint returning id
    ) ${newEvent.text} returning ${event.columns}`;
  const list = (
    where: string,
  ) => `select ${incident.columns} from incident.incidents where workspace_id = $1 and archived_at is null
    ${where} order by created_at desc, id desc limit 51`;

  return {
    '/get': async (ids) =>
      query('get', `select ${incident.columns} from incident.incidents where workspace_id = $1 and id = $2`, [
        ids.workspace,
        ids.incident,
      ]),
    '/list': async (ids) => query('list', list(''), [ids.workspace]),
    '/filtered': async (ids) => query('filtered', list(`and status = 'open' and severity = 'sev2'`), [ids.workspace]),
    '/create': async (ids) => query('create', insertIncident, [ids.workspace, ids.incident, ...newIncident.bindings]),
    '/patch': async (ids) =>
      query(
        'patch',
        `update incident.incidents set title = $3, revision = revision + 1
        where workspace_id = $1 and id = $2 returning ${incident.columns}`,
        [ids.workspace, ids.incident, 'Another title'],
      ),
    '/timeline-add': async (ids) =>
      query('timeline-add', insertEvent, [ids.workspace, ids.incident, ...newEvent.bindings]),
    '/timeline-list': async (ids) =>
      query(
        'timeline-list',
        `select ${event.columns} from incident.timeline_events where workspace_id = $1 and incident_id = $2
        order by started_at, id limit 51`,
        [ids.workspace, ids.incident],
      ),
  };
}

const byPath = await operations();

const server = http.createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://floor');
  const operation = byPath[url.pathname];
  const ids = { workspace: url.searchParams.get('workspace') ?? '', incident: url.searchParams.get('incident') ?? '' };
  request.resume();
  request.once('end', () => {
    Promise.resolve(operation?.(ids)).then(
      (rows) => {
        const body = Buffer.from(JSON.stringify({ rows }));
        response.writeHead(rows === undefined ? 404 : 200, {
          'Content-Type': 'application/json',
          'Content-Length': body.length,
        });
        response.end(body);
      },
      (error: unknown) => response.writeHead(500).end((error as Error).message),
    );
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit());
