import { type Knex, runOnce } from '@tocsin/postgres';
import { afterCommit, type Logger, runInBackground } from '@tocsin/runtime';

/** Incidents after which an import has the tables analysed for the first time. */
const FIRST = 200;

/** The tables that imports fill and that lists, searches and statistics join. */
const TABLES = ['incidents', 'incident_values', 'timeline_events', 'changelog', 'follow_ups'];

/** Whether a table that is large enough for a wrong plan to be felt, of 64 KiB, was never analysed. */
const IS_UNKNOWN = `
  select 1 from pg_class
  where oid in ('incidents'::regclass, 'incident_values'::regclass) and reltuples <= 0
    and pg_relation_size(oid) > 65536
  limit 1`;
const IS_KNOWN = `
  select 1 from pg_class
  where oid in ('incidents'::regclass, 'incident_values'::regclass) and reltuples > 0
  having count(*) = 2`;

/** PostgreSQL's statistics of the tables. */
export interface TableStatistics {
  /** Counts incidents that an import has created or changed. */
  imported(incidents: number): void;
  /** Before a statement that joins the tables: without statistics its plan compares all rows of one with all of another. */
  ensure(): Promise<void>;
}

/**
 * Has tables analysed that were filled: autovacuum does it up to a minute later, and until then PostgreSQL plans for tables
 * that are nearly empty, so that lists take seconds. An import has it done each time after twice as many incidents: a large
 * one needs a few analyses, each of which reads a sample.
 */
export function tableStatistics(database: Knex, log: Logger): TableStatistics {
  let due = FIRST;
  let count = 0;
  let isKnown = false;
  let running: Promise<void> | undefined;
  const analyse = async () => {
    for (const table of TABLES) await runOnce(database, `analyze ${table}`, []);
  };
  // Not for the request, which does not fail with it.
  const run = async () =>
    (running ??= runInBackground(analyse)
      .catch((error: unknown) => log.warn({ err: error }, 'cannot analyse tables'))
      .finally(() => (running = undefined)));
  return {
    imported: (incidents) =>
      afterCommit(() => {
        count += incidents;
        if (count < due || running !== undefined) return;
        due = 2 * count;
        void run();
      }),
    ensure: async () => {
      if (isKnown) return;
      if ((await runOnce(database, IS_UNKNOWN, [])).length > 0) await run();
      isKnown = (await runOnce(database, IS_KNOWN, [])).length > 0;
    },
  };
}
