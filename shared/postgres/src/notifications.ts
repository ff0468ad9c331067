import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '@tocsin/runtime';
import { databaseHosts } from './database-hosts.ts';
import { type HostConfig, KEEPALIVE_DELAY } from './session-settings.ts';
import { endSession, prepareSession } from './session.ts';

/** A connection that receives the notifications of one channel. */
export interface NotificationListener {
  stop(): Promise<void>;
}

const RECONNECT_DELAY = 500;
/** Milliseconds between two proofs that the session works: a listener sends nothing, so it would never notice. */
const HEARTBEAT_INTERVAL = 30_000;
/** For each statement. Milliseconds. */
const STATEMENT_TIMEOUT = 3_000;

/**
 * Listens to a channel on a connection of its own, and connects again when the connection is lost or dead. A channel
 * belongs to a database, and so to one installation.
 */
export function listenForNotifications(options: {
  url: string;
  channel: string;
  /** Shown in `pg_stat_activity`. */
  application: string;
  log: Logger;
  /** Called after every connect: notifications before it may be lost. */
  onConnect: () => void;
  onNotification: (payload: string) => void;
  /** Milliseconds; default 30 seconds. */
  heartbeatInterval?: number | undefined;
}): NotificationListener {
  const { heartbeatInterval = HEARTBEAT_INTERVAL } = options;
  const stopping = new AbortController();
  /** Ends the session under way, if there is one. */
  let endSessionUnderWay = (): void => undefined;

  const hosts = databaseHosts(options.url, {
    application_name: options.application,
    connectionTimeoutMillis: 3_000,
    query_timeout: STATEMENT_TIMEOUT,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY,
  });

  const session = async (config: HostConfig): Promise<void> => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const client = new pg.Client(config);
    client.on('error', () => resolve());
    client.on('end', () => resolve());
    // Does not end the client here: a client that is ended while it connects emits no event.
    endSessionUnderWay = resolve;
    client.on('notification', ({ payload = '' }) => options.onNotification(payload));
    try {
      await client.connect();
      await prepareSession(client, { config });
      if (stopping.signal.aborted) return;
      await client.query(`listen ${pg.escapeIdentifier(options.channel)}`);
      options.onConnect();
      await Promise.race([ended, heartbeats(client, ended)]);
    } finally {
      await endSession(client);
    }
  };

  /** Rejects when the server does not respond. */
  const heartbeats = async (client: pg.Client, ended: Promise<void>): Promise<void> => {
    const over = new AbortController();
    void ended.then(() => over.abort());
    for (;;) {
      await delay(heartbeatInterval, undefined, { signal: over.signal, ref: false });
      await client.query('select 1');
    }
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await hosts
        .connect(session)
        .catch((error: unknown) =>
          options.log.debug({ err: error, channel: options.channel }, 'cannot listen for notifications; retrying'),
        );
      await delay(RECONNECT_DELAY, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();

  return {
    stop: async () => {
      stopping.abort();
      endSessionUnderWay();
      await running;
    },
  };
}
