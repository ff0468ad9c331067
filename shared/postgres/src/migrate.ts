import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Knex } from 'knex';
import type pg from 'pg';
import { databaseHosts } from './database-hosts.ts';
import type { HostConfig } from './session-settings.ts';
import { BlockedMigration, isBlocked, type MigrationBlockers, watchBlockers } from './migration-blockers.ts';
import { MIGRATION_CONNECTION } from './migration-connection.ts';
import { endSession, openSession, prepareSession } from './session.ts';

export interface SchemaOwner {
  /** The URL of the role that owns the schema. */
  url: string;
  schema: string;
  /** The folder of the owner's migrations. */
  migrations: string;
  /** The file names of the migrations that are to run; default: all. */
  only?: ReadonlySet<string>;
}

/** A file in the folder of migrations. */
interface Migration {
  up(knex: Knex): Promise<void>;
  config?: {
    /**
     * False for what PostgreSQL refuses in a transaction. Requests must not have to wait for it, and it must be possible
     * to run it again after an interruption anywhere.
     */
    transaction?: boolean;
  };
}

/** Milliseconds, except `attempts`. */
const WAITS = {
  /** For another process that migrates the same schema. */
  turn: 600_000,
  /**
   * For a lock, in a transaction. The requests for the table wait behind it, and a GET has two seconds in all. More than
   * one second, after which PostgreSQL cancels an autovacuum that is in the way (deadlock_timeout).
   */
  lock: 1_500,
  /** Before the second attempt to get a lock. Before each further one it is twice as long, up to `longestPause`. */
  pause: 1_000,
  longestPause: 10_000,
  /** How many attempts of one run may fail: five to six minutes. */
  attempts: 32,
  /** For a lock or the end of older transactions, outside of a transaction. */
  outside: 300_000,
};

/** Between two attempts to become the one that migrates; milliseconds. */
const TURN_RETRY = 250;

export interface MigrationOptions {
  /** Receives a sentence when a migration begins to wait for sessions. */
  onWait?: (message: string) => void;
  waits?: Partial<typeof WAITS>;
}

/**
 * Runs an owner's pending migrations, each in a transaction of its own, and returns their names. Safe to run from several
 * processes at once, and again after an interruption. The statements themselves have no limit.
 * @throws Error naming the sessions that a migration has waited for in vain; what has finished stays
 */
export async function migrate(owner: SchemaOwner, options: MigrationOptions = {}): Promise<string[]> {
  const waits = { ...WAITS, ...options.waits };
  const hosts = databaseHosts(owner.url, MIGRATION_CONNECTION);
  const watcher = await openSession(hosts);
  const knex = await openForMigrations(hosts.current, { schema: owner.schema, wait: waits.turn });
  try {
    const run: Run = { knex, watcher, waits, onWait: options.onWait, failedAttempts: 0 };
    await inTransaction(run, 'the table of migrations', async (trx) => prepare(trx, owner.schema));
    const pending = await findPending(knex, owner);
    for (const name of pending) await runMigration(run, owner.migrations, name);
    return pending;
  } finally {
    await knex.destroy();
    await endSession(watcher);
  }
}

/** The names of all migrations in a folder, in their order. */
export const listMigrations = async (folder: string): Promise<string[]> =>
  (await readdir(folder))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.basename(name, '.ts'))
    .sort();

/** @param options.wait milliseconds, while another process migrates the schema */
async function openForMigrations(config: HostConfig, { schema, wait }: { schema: string; wait: number }) {
  // Loaded here: commands of the operator use this package, and migrate nothing.
  const { default: knexFactory } = await import('knex');
  const open = async (connection: pg.Client) => {
    await prepareSession(connection, { config, schema });
    // The server then ends the statement of a process that has died. Systems that cannot do this refuse the setting.
    await connection.query('set client_connection_check_interval = 5000').catch(() => undefined);
    await takeTurn(connection, schema, wait);
  };
  return knexFactory({
    client: 'pg',
    connection: config as Knex.PgConnectionConfig,
    acquireConnectionTimeout: 2 * wait + WAITS.turn,
    pool: {
      min: 0,
      // One, so that its session can be watched.
      max: 1,
      createTimeoutMillis: wait + WAITS.turn,
      afterCreate: (connection: pg.Client, done: (error: Error | null, connection: pg.Client) => void) => {
        open(connection).then(
          () => done(null, connection),
          async (error: unknown) => {
            await endSession(connection);
            done(error as Error, connection);
          },
        );
      },
    },
    // knex would print what it also throws.
    log: { warn: () => undefined, error: () => undefined },
  });
}

/**
 * Waits until no other process migrates the schema; the end of the session ends the turn. So the session that migrates
 * always has it, also when it is not the first one.
 * @throws Error when another one still does after this time
 */
async function takeTurn(connection: pg.Client, schema: string, wait: number): Promise<void> {
  // Not pg_advisory_lock: a session that waits in a statement would in turn hold up the indexes of the other process.
  const take = 'select pg_try_advisory_lock(hashtext($1)) as taken';
  const deadline = performance.now() + wait;
  for (;;) {
    const { rows } = await connection.query<{ taken: boolean }>(take, [`tocsin-migrate-${schema}`]);
    if (rows[0]?.taken === true) return;
    if (performance.now() > deadline) {
      const seconds = Math.round(wait / 1_000);
      throw new Error(`another process has been migrating the schema for ${seconds} s: try again later`);
    }
    await delay(TURN_RETRY);
  }
}

async function prepare(trx: Knex, schema: string): Promise<void> {
  // Not IF NOT EXISTS: it requires the privilege to create schemas even if the schema exists.
  const existing = await trx.raw<{ rows: unknown[] }>('select 1 from pg_namespace where nspname = ?', [schema]);
  if (existing.rows.length === 0) await trx.raw('create schema ??', [schema]);
  await trx.raw(`
    create table if not exists migrations (
      id serial primary key, name varchar(255), batch integer, migration_time timestamptz
    )`);
  await trx.raw('drop table if exists migrations_lock');
}

async function findPending(knex: Knex, { migrations, only }: SchemaOwner): Promise<string[]> {
  const names = (await listMigrations(migrations)).filter((name) => only?.has(`${name}.ts`) !== false);
  const applied = new Set(await knex('migrations').orderBy('id').pluck<string[]>('name'));
  const unknown = [...applied].filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Error(`the schema is of a later release (${unknown.join(', ')}): use its code`);
  return names.filter((name) => !applied.has(name));
}

interface Run {
  knex: Knex;
  /** Looks at what holds up the session that migrates. */
  watcher: pg.Client;
  waits: typeof WAITS;
  onWait: MigrationOptions['onWait'];
  failedAttempts: number;
}

async function runMigration(run: Run, folder: string, name: string): Promise<void> {
  const { up, config } = (await import(pathToFileURL(path.join(folder, `${name}.ts`)).href)) as Migration;
  const finish = async (knex: Knex) => {
    await up(knex);
    await knex('migrations').insert({ name, migration_time: knex.fn.now() });
  };
  await (config?.transaction === false ? outsideTransaction : inTransaction)(run, name, finish);
}

async function outsideTransaction(run: Run, name: string, work: (knex: Knex) => Promise<void>): Promise<void> {
  const { knex, waits } = run;
  await watched(run, async (blockers) => {
    try {
      await knex.raw(`set lock_timeout = ${waits.outside}`);
      await work(knex);
    } catch (error) {
      throw isBlocked(error) ? new BlockedMigration(name, blockers.latest(), error) : error;
    }
  });
}

/** Tries again what has waited for a lock in vain, after a pause in which the requests behind it are served. */
async function inTransaction(run: Run, name: string, work: (trx: Knex) => Promise<void>): Promise<void> {
  const { knex, waits, onWait } = run;
  await watched(run, async (blockers) => {
    let announced = '';
    for (let pause = waits.pause; ; pause = Math.min(2 * pause, waits.longestPause)) {
      try {
        await knex.transaction(async (trx) => {
          await trx.raw(`set local lock_timeout = ${waits.lock}`);
          await work(trx);
        });
        return;
      } catch (error) {
        if (!isBlocked(error)) throw error;
        const blocked = new BlockedMigration(name, blockers.latest(), error);
        run.failedAttempts += 1;
        if (run.failedAttempts >= waits.attempts) throw blocked;
        if (blocked.sessions !== announced) onWait?.(`${blocked.what}; trying again`);
        announced = blocked.sessions;
        await delay(pause);
      }
    }
  });
}

async function watched(run: Run, work: (blockers: MigrationBlockers) => Promise<void>): Promise<void> {
  const { knex, watcher } = run;
  const { rows } = await knex.raw<{ rows: [{ pid: number }] }>('select pg_backend_pid() as pid');
  const blockers = watchBlockers(watcher, rows[0].pid);
  try {
    await work(blockers);
  } finally {
    await blockers.stop();
  }
}
