import type pg from 'pg';
import { type Column, copyOf, growingTables } from './fill-tables.ts';

interface Copies {
  schemas: readonly string[];
  /** The workspace to copy, with all that it has. Its incidents take turns as originals. */
  workspaceId: number;
  /** The numbers of incidents of the copies. */
  sizes: readonly number[];
}

/** Days over which the incidents of a copy are spread, and those of which the feed has events: one more than it keeps. */
const DAYS = 400;
const FEED_DAYS = 31;
/** Incidents of a copy for each expired idempotency key. */
const INCIDENTS_PER_KEY = 100;

const INCIDENTS = 'incident.incidents';
const KEYS = 'incident.idempotency_keys';
const FEED = 'webhook.feed_events';
/** Copied by statements of their own, or not at all. */
const APART = new Set([INCIDENTS, KEYS, FEED, 'webhook.feed_workspaces', 'gateway.workspaces']);
const isTransient = (table: string) => /[.](?:outbox|inbox|idempotency_keys)$/.test(table);

/** The ID of a copied incident, and how much older it is than the newest one of its workspace. */
const ID = 'copies.first_id + n';
const AGE = '(copies.size - n) * copies.pause';

/** What differs besides IDs and times. */
const SET: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [INCIDENTS]: {
    id: ID,
    number: 'n',
    title: `${INCIDENTS}.title || ' ' || n`,
    title_folded: `${INCIDENTS}.title_folded || ' ' || n`,
  },
  'incident.incident_counters': { last: 'copies.size' },
  'incident.replica_fields': {
    definition: `jsonb_set(definition, '{id}', to_jsonb(${copyOf({ table: 'incident.replica_fields', name: 'id', type: 'int8' })}))`,
  },
  'incident.service_references': {
    incidents: 'incident.service_references.incidents * copies.size / (select count(*) from originals)',
  },
  'incident.workspace_storage': { measured_at: 'now()', due_at: 'null' },
  [KEYS]: { key: `${KEYS}.key || '-' || n`, claimed_at: `now() - interval '25 hours'` },
  [FEED]: {
    position: `row_number() over in_order`,
    event_id: `md5(${FEED}.event_id::text || ${ID})::uuid`,
    resource: `'incident:' || ${ID}`,
    recorded_at: `now() - ${AGE}`,
    recorded_bytes: `sum(octet_length(${FEED}.body) + 384) over in_order`,
  },
};

/**
 * Copies a workspace that the API has filled (ADR 90), one set of rows for each table. No app may run. Numbers, counters,
 * sequences, feeds and replicas are as the doctor wants them; only the texts and JSON of copies name the original. The
 * host of a copy is that of the original with `-` and its number, and its tokens are those of the original.
 */
export async function copyWorkspaces(client: pg.Client, { schemas, workspaceId, sizes }: Copies): Promise<void> {
  const tables = await growingTables(client, schemas);
  const copy = async (
    table: string,
    from: string,
    change: (column: Column) => string | undefined = () => undefined,
  ) => {
    const columns = (tables.get(table) ?? []).map((column) => {
      const value = change(column) ?? SET[table]?.[column.name] ?? copyOf(column);
      return { name: `"${column.name}"`, value: column.name === 'token_digest' ? `${table}.token_digest` : value };
    });
    const copied = columns.filter(({ value }) => value !== '');
    await client.query(
      `insert into ${table} (${copied.map(({ name }) => name).join(', ')})
       select ${copied.map(({ value }) => value).join(', ')} from ${from}`,
    );
  };
  // Foreign keys need no check: all tables are copied.
  await client.query(`set session_replication_role = replica`);
  await prepare(client, workspaceId, sizes);

  const ofIncidents = (table: string, key: string, first = '1') => `copies
    cross join lateral generate_series(${first}, copies.size) as n
    join originals on originals.nth = n % (select count(*) from originals)
    join ${table} on ${table}.workspace_id = ${workspaceId} and ${table}.${key}`;
  const ofIncident = ({ table, name, type }: Column) => {
    if (name === 'incident_id') return ID;
    // The sequence gives other IDs.
    if (table !== INCIDENTS && table !== FEED && (name === 'id' || name === 'seq')) return '';
    return type === 'timestamptz' && table !== FEED ? `${table}."${name}" - ${AGE}` : undefined;
  };
  await copy('gateway.workspaces', `gateway.workspaces, copies where gateway.workspaces.id = ${workspaceId}`);
  await copy(INCIDENTS, ofIncidents(INCIDENTS, 'id = originals.id'), ofIncident);
  for (const [table, columns] of tables) {
    const has = (column: string) => columns.some(({ name }) => name === column);
    if (APART.has(table) || isTransient(table) || !has('workspace_id')) continue;
    if (has('incident_id')) await copy(table, ofIncidents(table, 'incident_id = originals.id'), ofIncident);
    else await copy(table, `${table}, copies where ${table}.workspace_id = ${workspaceId}`);
  }
  await copy(
    FEED,
    `${ofIncidents(FEED, `resource = 'incident:' || originals.id`, `greatest(1, ceil(copies.size * ${1 - FEED_DAYS / DAYS})::int)`)}
     window in_order as (partition by copy order by n, ${FEED}.position)`,
    ofIncident,
  );
  await client.query(
    `insert into webhook.feed_workspaces (workspace_id, position, unrestricted_position, recorded_at, recorded_bytes)
     select workspace_id, max(position), max(position), max(recorded_at), max(recorded_bytes) from ${FEED}
     where workspace_id <> $1 group by workspace_id`,
    [workspaceId],
  );
  const keysOfCopy = `copies.size / ${INCIDENTS_PER_KEY} / (select count(*) from originals)`;
  await copy(
    KEYS,
    `copies cross join lateral generate_series(1, ${keysOfCopy}) as n, ${KEYS} where ${KEYS}.workspace_id = ${workspaceId}`,
  );
  await setSequences(client);
  await client.query('reset session_replication_role');
}

/** `copies` has a row for each copy, `originals` for each incident to copy. */
async function prepare(client: pg.Client, workspaceId: number, sizes: readonly number[]): Promise<void> {
  await client.query(
    `create temporary table copies as
     select copy::int, size, (select max(id) from ${INCIDENTS}) + sum(size) over (order by copy) - size as first_id,
       interval '${DAYS} days' / size as pause
     from unnest($1::int[]) with ordinality as given (size, copy)`,
    [sizes],
  );
  await client.query(
    `create temporary table originals as
     select id, row_number() over (order by id) - 1 as nth from ${INCIDENTS} where workspace_id = ${workspaceId}`,
  );
  await client.query('analyze copies, originals');
}

/** Lets the sequences continue behind the IDs of the copies. */
async function setSequences(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ sequence: string; table: string; column: string }>(
    `select s.oid::regclass::text as sequence, d.refobjid::regclass::text as "table", quote_ident(a.attname) as column
     from pg_depend as d join pg_class as s on s.oid = d.objid and s.relkind = 'S'
     join pg_attribute as a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where d.classid = 'pg_class'::regclass and d.deptype = 'a'`,
  );
  for (const { sequence, table, column } of rows)
    await client.query(`select setval('${sequence}', max(${column})) from ${table} having max(${column}) is not null`);
}
