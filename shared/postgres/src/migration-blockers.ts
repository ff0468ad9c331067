import type pg from 'pg';

/** Milliseconds between two looks at the sessions that block a migration. */
const INTERVAL = 200;

/** Visible to every role are the process ID, the role and the application only; 0 stands for a prepared transaction. */
const BLOCKERS = `
  select blocking.pid, a.usename as role, a.application_name as application,
    extract(epoch from clock_timestamp() - a.xact_start)::float8 as seconds
  from unnest(pg_blocking_pids($1)) as blocking (pid) left join pg_stat_activity a on a.pid = blocking.pid`;

interface Blocker {
  pid: number;
  role: string | null;
  application: string | null;
  /** The age of its transaction; null where this role may not see it. */
  seconds: number | null;
}

/** The sessions that the migrating session waits for. */
export interface MigrationBlockers {
  /** Those that were seen last. */
  latest(): readonly Blocker[];
  stop(): Promise<void>;
}

/** Looks again and again for what blocks a session: a statement that has given up waiting no longer tells. */
export function watchBlockers(client: pg.Client, pid: number): MigrationBlockers {
  const seenAt = new Map<number, number>();
  let latest: readonly Blocker[] = [];
  let look: Promise<void> | undefined;
  const timer = setInterval(() => {
    look ??= client
      .query<Blocker>(BLOCKERS, [pid])
      .then(({ rows }) => {
        const now = performance.now();
        for (const { pid: blocking } of rows) if (!seenAt.has(blocking)) seenAt.set(blocking, now);
        if (rows.length > 0) {
          latest = rows.map((row) => ({
            ...row,
            seconds: row.seconds ?? (now - (seenAt.get(row.pid) ?? now)) / 1_000,
          }));
        }
      })
      // The migration itself reports that the server is away.
      .catch(() => undefined)
      .finally(() => (look = undefined));
  }, INTERVAL);
  return {
    latest: () => latest,
    stop: async () => {
      clearInterval(timer);
      await look;
    },
  };
}

/** Whether a statement failed because another session holds a lock: lock_not_available, deadlock_detected. */
export const isBlocked = (error: unknown): error is Error => {
  const { code } = error as { code?: unknown };
  return code === '55P03' || code === '40P01';
};

/** A migration that did not get a lock. */
export class BlockedMigration extends Error {
  override readonly name = 'BlockedMigration';
  /** The process IDs of the sessions that hold the lock. */
  readonly sessions: string;
  /** The message without advice. */
  readonly what: string;

  constructor(migration: string, blockers: readonly Blocker[], cause: Error) {
    const sessions = blockers.length === 0 ? 'another session' : blockers.map(describe).join(' and ');
    const what = `${migration} waits for ${sessions}`;
    super(`${what}. Wait for its end, or end it, and migrate again`, { cause });
    this.what = what;
    this.sessions = blockers.map(({ pid }) => pid).join();
  }
}

function describe({ pid, role, application, seconds }: Blocker): string {
  if (pid === 0) return 'a prepared transaction (see pg_prepared_xacts)';
  const program = application === null || application === '' ? 'a program without a name' : application;
  const age = Math.floor(seconds ?? 0);
  return `session ${pid} (${program}, role ${role ?? 'unknown'}), whose transaction has been open for at least ${age} s`;
}
