import { HandlerGivenUp } from './errors.ts';
import type { Remember } from './remember.ts';

/** The part of a connection that is used; a client of a `pg.Pool` has it. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rowCount: number | null; command: string }>;
  /** Returns it to its pool, or, with an error, removes it from the pool. */
  release(error?: Error): void;
}

/** Creates the tables of `rememberInPostgres`; for your migrations. May run again. */
export const POSTGRES_TABLES = `
create table if not exists tocsin_handled_events (
  consumer text not null,
  event_id uuid not null,
  handled_at timestamptz not null default now(),
  primary key (consumer, event_id)
);
create index if not exists tocsin_handled_events_handled_at on tocsin_handled_events (consumer, handled_at);
create table if not exists tocsin_last_revisions (
  consumer text not null,
  resource text not null,
  revision bigint not null,
  primary key (consumer, resource)
);`;

/** Rows that one statement of `forget` deletes. */
const BATCH = 1_000;

export interface PostgresRemember<Client> extends Remember<Client> {
  /**
   * Forgets the IDs of events that were handled more than `days` ago, so that the table does not grow forever. An event
   * that is delivered again later, for example a replayed dead letter, is then handled again.
   * @returns the number of forgotten events
   */
  forget(days: number): Promise<number>;
}

/**
 * Remembers in Postgres, in the transaction that the handler writes in. The row of the event, or of its resource, makes
 * other processes with the same event or resource wait until the transaction ends.
 * @param options.connect takes a connection from your pool: `() => pool.connect()`
 * @param options.consumer separates consumers that share the tables; for example the name of the queue
 */
export function rememberInPostgres<Client extends PostgresClient>(options: {
  connect: () => Promise<Client>;
  consumer: string;
}): PostgresRemember<Client> {
  const { connect, consumer } = options;

  const inTransaction = async <Result>(work: (client: Client) => Promise<Result>): Promise<Result> => {
    const client = await connect();
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const result = await work(client);
      const { command } = await client.query('commit');
      // Postgres answers a commit after a failed statement with ROLLBACK and no error.
      if (command !== 'COMMIT')
        throw new Error('the transaction was rolled back, because one of its statements failed');
      return result;
    } catch (error) {
      if (error instanceof HandlerGivenUp) {
        // The handler may still use the connection. Closing it rolls the transaction back.
        broken = error;
        throw error;
      }
      await client.query('rollback').catch((failure: unknown) => {
        broken = failure instanceof Error ? failure : new Error('cannot roll back');
      });
      throw error;
    } finally {
      client.release(broken);
    }
  };

  return {
    once: async ({ id, resource, revision }, work) =>
      inTransaction(async (client) => {
        const inserted = await client.query(
          'insert into tocsin_handled_events (consumer, event_id) values ($1, $2) on conflict do nothing',
          [consumer, id],
        );
        if (inserted.rowCount !== 1) return 'duplicate';
        if (resource !== undefined && revision !== undefined) {
          const raised = await client.query(
            `insert into tocsin_last_revisions as last (consumer, resource, revision) values ($1, $2, $3)
             on conflict (consumer, resource) do update set revision = excluded.revision
             where last.revision <= excluded.revision`,
            [consumer, resource, revision],
          );
          if (raised.rowCount !== 1) return 'outdated';
        }
        await work(client);
        return 'handled';
      }),
    forget: async (days) => {
      const deleteBatch = async (client: Client) => {
        const { rowCount } = await client.query(
          `delete from tocsin_handled_events where consumer = $1 and event_id in (
             select event_id from tocsin_handled_events
             where consumer = $1 and handled_at < now() - $2 * interval '1 day' limit ${BATCH})`,
          [consumer, days],
        );
        return rowCount ?? 0;
      };
      let forgotten = 0;
      for (let deleted = BATCH; deleted === BATCH; forgotten += deleted) deleted = await inTransaction(deleteBatch);
      return forgotten;
    },
  };
}
