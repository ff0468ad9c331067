import pg from 'pg';

const DEADLOCK = '40P01';

/** Tables that change at their own times, or that requests only count in. */
const CHANGING = [
  ...['incident.workspace_storage', 'incident.replica_versions', 'catalog.replica_versions'],
  ...[
    'webhook.windows',
    'webhook.slots',
    'incident.provisioning_steps',
    'incident.channel_updates',
    'incident.alert_sources',
    // Tickets are made meanwhile.
    ...['incident.follow_up_tickets', 'incident.trackers'],
  ],
];

/** What differs between two writes of the same: times, UUIDs, encrypted values, tokens, IDs of webhooks, marks of channels, durations. */
const ASSIGNED =
  /\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|\+00:00)|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\\+x[\da-f]+|(?:tc[sl]|whsec|tracksec|wh)_[\w+/=-]+|"marker":"[\da-f]{12}"|[A-Za-z\d+/]{80,}=*|\\?"duration_(?:seconds|ms)\\?":\d+/g;

export const comparable = (text: string): string => text.replaceAll(ASSIGNED, '~');

/** The comparable rows of each table. */
export type State = Readonly<Record<string, string>>;

/**
 * The tables of all apps: what they hold, and how that is restored. A trigger notes which tables a statement wrote to, so
 * that only those are read.
 */
export async function storedState(url: string, schemas: readonly string[]) {
  const sql = new pg.Client({ connectionString: url });
  await sql.connect();
  const { rows: tables } = await sql.query<{ id: number; name: string; columns: string }>(
    `select format('%I.%I', table_schema, table_name)::regclass::oid as id, format('%I.%I', table_schema, table_name) as name,
       string_agg(quote_ident(column_name), ', ') filter (where is_generated = 'NEVER') as columns
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = any($1) and table_type = 'BASE TABLE' and table_name not in ('migrations')
     group by table_schema, table_name order by 2`,
    [schemas],
  );
  type Table = (typeof tables)[number];
  const isCompared = ({ name }: Table) => !CHANGING.includes(name);
  const copyOf = ({ name }: Table) => `saved."${name.replaceAll('"', '')}"`;
  const forEach = (some: readonly Table[], ...statements: ((table: Table) => string)[]) =>
    statements.flatMap((statement) => some.map(statement)).join(';');
  await sql.query(`
    create schema saved;
    create table saved.writes (table_id oid);
    create table saved.sequences (sequence regclass, last bigint);
    create function saved.note() returns trigger language plpgsql security definer as $$
      begin insert into saved.writes values (tg_relid); return null; end $$`);
  await sql.query(
    forEach(
      tables,
      (table) => `create table ${copyOf(table)} as table ${table.name} with no data`,
      ({ name }) =>
        `create trigger noted after insert or update or delete or truncate on ${name} execute function saved.note()`,
    ),
  );
  // Neither triggers nor references act on rows that are restored.
  await sql.query('set session_replication_role = replica');

  /** The tables that were written to since they were saved or restored. */
  const written = async (): Promise<Table[]> => {
    const { rows } = await sql.query<{ table_id: number }>('select distinct table_id from saved.writes');
    return tables.filter(({ id }) => rows.some((row) => row.table_id === id));
  };
  const read = async (some: readonly Table[]): Promise<State> => {
    const texts = some.filter(isCompared).map(({ name }) => {
      const row = `to_jsonb(stored)${/^gateway\.(?:api_keys|users)$/.test(name) ? " - array['last_used_at', 'last_seen_at']" : ''}`;
      return `select '${name}' as name, coalesce(jsonb_agg(${row}), '[]') as rows from ${name} as stored`;
    });
    if (texts.length === 0) return {};
    const { rows: states } = await sql.query<{ name: string; rows: unknown[] }>(texts.join(' union all '));
    return Object.fromEntries(
      states.map(({ name, rows }) => [
        name,
        rows
          .map((row) => comparable(JSON.stringify(row)))
          .sort()
          .join('\n'),
      ]),
    );
  };
  const closeGaps = async () =>
    sql.query('select setval(sequence, coalesce(last, 1), last is not null) from saved.sequences');
  /**
   * Works on the tables that were written to, in one transaction; what is written meanwhile is a later write. Workers lock
   * rows in another order, so it is repeated after a deadlock.
   */
  const finish = async (some: readonly Table[], ...statements: ((table: Table) => string)[]): Promise<void> => {
    const ids = some.map(({ id }) => id).join();
    if (ids === '') return;
    try {
      await sql.query(`delete from saved.writes where table_id in (${ids}); ${forEach(some, ...statements)}`);
    } catch (error) {
      if ((error as { code?: string }).code !== DEADLOCK) throw error;
      await finish(some, ...statements);
    }
  };
  let saved: State = {};
  const save = async (some: readonly Table[]): Promise<void> => {
    await finish(
      some,
      (table) => `delete from ${copyOf(table)}`,
      (table) => `insert into ${copyOf(table)} table ${table.name}`,
    );
    saved = { ...saved, ...(await read(some)) };
    await sql.query(
      `delete from saved.sequences; insert into saved.sequences
         select format('%I.%I', schemaname, sequencename)::regclass, last_value from pg_sequences where schemaname in
           (${schemas.map((schema) => `'${schema}'`).join()})`,
    );
  };
  await save(tables);

  return {
    /** What a test compares. */
    read: async (): Promise<State> => ({ ...saved, ...(await read(await written())) }),
    /** Keeps what is stored now. */
    save: async () => save(await written()),
    /** Stores again what was kept. */
    restore: async (): Promise<void> => {
      await finish(
        await written(),
        ({ name }) => `delete from ${name}`,
        (table) =>
          `insert into ${table.name} (${table.columns}) overriding system value select ${table.columns} from ${copyOf(table)}`,
      );
      await closeGaps();
    },
    /** Lets the next write assign the IDs that one which had no effect would have got. */
    closeGaps,
    /** How many sessions of apps have an open transaction and do nothing. */
    openTransactions: async (): Promise<number> => {
      const { rows } = await sql.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity where datname = current_database() and state like 'idle in%'
           and application_name like 'tocsin-%'`,
      );
      return rows[0]?.count ?? 0;
    },
    /** Whether events wait for the relays. */
    hasUnpublished: async (): Promise<boolean> => {
      const outboxes = tables.filter(({ name }) => name.endsWith('.outbox'));
      const { rows } = await sql.query(outboxes.map(({ name }) => `select 1 from ${name}`).join(' union all '));
      return rows.length > 0;
    },
    close: async () => sql.end(),
  };
}
