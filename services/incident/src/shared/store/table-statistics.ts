import { type Knex, query } from '@tocsin/postgres';
import { afterCommit, type Logger, runInBackground } from '@tocsin/runtime';

/** Incidents after which an import has the tables analysed for the first time. */
const FIRST = 200;

/** The tables that imports fill. */
const TABLES = ['incidents', 'incident_values', 'timeline_events', 'changelog', 'follow_ups'];

/** PostgreSQL's statistics of the tables. */
export interface TableStatistics {
  /** Counts incidents that an import has created or changed. */
  imported(incidents: number): void;
}

/**
 * Has tables analysed that were filled: autovacuum does it up to a minute later, and until then PostgreSQL plans for tables
 * that are nearly empty. An import has it done each time after twice as many incidents: a large one needs a few analyses,
 * each of which reads a sample.
 */
export function tableStatistics(database: Knex, log: Logger): TableStatistics {
  let due = FIRST;
  let count = 0;
  let isRunning = false;
  const analyse = async () => {
    for (const table of TABLES) await query(database, { text: `analyze ${table}` });
  };
  // Not for the request, which does not fail with it.
  const run = () => {
    isRunning = true;
    void runInBackground(analyse)
      .catch((error: unknown) => log.warn({ err: error }, 'cannot analyse tables'))
      .finally(() => (isRunning = false));
  };
  return {
    imported: (incidents) =>
      afterCommit(() => {
        count += incidents;
        if (count < due || isRunning) return;
        due = 2 * count;
        run();
      }),
  };
}
