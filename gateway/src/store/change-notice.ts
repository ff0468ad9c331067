import { setTimeout as delay } from 'node:timers/promises';
import type { Knex, Logger } from '@tocsin/runtime';
import pg from 'pg';

/** Of the database, and so of one installation. */
const CHANNEL = 'tocsin_identity_changed';

/** Tells every running gateway, when the transaction commits, that identities changed. */
export async function announceChange(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`notify ${CHANNEL}`);
}

export interface ChangeListener {
  /** False while the connection is down; what is cached then ages by itself. */
  readonly connected: boolean;
  stop(): Promise<void>;
}

const RECONNECT_DELAY = 500;

/**
 * Calls `onChange` at every announcement, and whenever the connection comes (back) up: what was announced in between went
 * unheard.
 */
export function listenForChanges(options: { url: string; log: Logger; onChange: () => void }): ChangeListener {
  const stopping = new AbortController();
  let connected = false;

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
    // Not by ending the client from outside: one that is ended while it connects never says so.
    stopping.signal.addEventListener('abort', () => resolve(), { once: true });
    client.on('notification', options.onChange);
    try {
      await client.connect();
      if (stopping.signal.aborted) return;
      await client.query(`listen ${CHANNEL}`);
      connected = true;
      options.onChange();
      await ended;
    } finally {
      connected = false;
      await client.end().catch(() => undefined);
    }
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await session().catch((error: unknown) => options.log.debug({ err: error }, 'cannot listen for changes'));
      await delay(RECONNECT_DELAY, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();

  return {
    get connected() {
      return connected;
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
