import { setTimeout as delay } from 'node:timers/promises';
import type { Knex, Logger } from '@tocsin/runtime';
import pg from 'pg';

/** The channel belongs to a database, and so to one installation. */
const CHANNEL = 'tocsin_identity_changed';

/** Notifies every running gateway of a change of identities, when the transaction commits. */
export async function notifyIdentityChange(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`notify ${CHANNEL}`);
}

export interface IdentityChangeListener {
  stop(): Promise<void>;
}

const RECONNECT_DELAY = 500;

/** Calls `onChange` at every notification and after every connect, because notifications before it may be lost. */
export function listenForIdentityChanges(options: {
  url: string;
  log: Logger;
  onChange: () => void;
}): IdentityChangeListener {
  const stopping = new AbortController();

  const session = async (): Promise<void> => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const client = new pg.Client({
      connectionString: options.url,
      application_name: 'tocsin-gateway-listener',
      connectionTimeoutMillis: 3_000,
      query_timeout: 3_000,
      keepAlive: true,
    });
    client.on('error', () => resolve());
    client.on('end', () => resolve());
    // Does not end the client here: a client that is ended while it connects emits no event.
    stopping.signal.addEventListener('abort', () => resolve(), { once: true });
    client.on('notification', options.onChange);
    try {
      await client.connect();
      if (stopping.signal.aborted) return;
      await client.query(`listen ${CHANNEL}`);
      options.onChange();
      await ended;
    } finally {
      await client.end().catch(() => undefined);
    }
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await session().catch((error: unknown) =>
        options.log.debug({ err: error }, 'cannot listen for identity changes; retrying'),
      );
      await delay(RECONNECT_DELAY, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();

  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
