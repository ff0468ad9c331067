import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from '@tocsin/postgres';
import { Gauge, type Logger, type Metrics, startPeriodicTask } from '@tocsin/runtime';
import { ChatError } from '../chat/clients/chat.ts';
import type { SlackEnvelope, SlackSocket } from '../chat/clients/slack/socket.ts';
import { SOCKET_LEASE, socketStore } from './store/socket-store.ts';

/** Opens the socket of a workspace; undefined: it has no token for one. @throws ChatError */
type OpenSocket = (
  workspaceId: number,
  options: { onEnvelope: (envelope: SlackEnvelope) => void; signal: AbortSignal },
) => Promise<SlackSocket | undefined>;

interface SocketOptions {
  database: Knex;
  open: OpenSocket;
  /** Must not throw. */
  onEnvelope: (workspaceId: number, envelope: SlackEnvelope) => void;
  log: Logger;
  metrics: Metrics;
  /** Milliseconds between two looks; default: `RENEWAL`. */
  interval?: number | undefined;
}

/** Sockets that one process holds. */
const MAX_SOCKETS = 200;
/** Milliseconds between two renewals of the leases, and looks for sockets that nobody holds. */
const RENEWAL = SOCKET_LEASE / 3;
/** Milliseconds between two looks of a process that holds none. */
const LOOK = SOCKET_LEASE;
/** Milliseconds until leases that could not be renewed are given up: before others may take them. */
const GIVE_UP = SOCKET_LEASE - 10_000;
/** Milliseconds until a socket that failed is opened again: twice as long each time. */
const BACKOFF = { least: 1_000, most: 600_000 };
/** Milliseconds after which a socket that closes has not failed. */
const STABLE = 10_000;

interface HeldSocket {
  stop(): void;
  ended: Promise<void>;
  isOpen: boolean;
}

/**
 * Holds the sockets of connected chats, each by one process at a time. Two at once, after a process was cut off, are
 * harmless: Slack sends each request over one of them.
 */
export function holdSockets({ database, open, onEnvelope, log, metrics, interval }: SocketOptions) {
  const store = socketStore(database, randomUUID());
  const held = new Map<number, HeldSocket>();
  let renewedAt = performance.now();
  observe(metrics, held);

  const close = (workspaceIds: Iterable<number>) => {
    for (const id of workspaceIds) {
      held.get(id)?.stop();
      held.delete(id);
    }
  };

  const hold = (workspaceId: number) => {
    // The workspace may have been connected anew since the lease was renewed.
    close([workspaceId]);
    const stopping = new AbortController();
    const socket: HeldSocket = { isOpen: false, stop: () => stopping.abort(), ended: Promise.resolve() };
    held.set(workspaceId, socket);
    socket.ended = keepOpen({ open, onEnvelope, log }, { workspaceId, socket, signal: stopping.signal }).finally(() => {
      if (held.get(workspaceId) === socket) held.delete(workspaceId);
    });
  };

  const renew = async () => {
    if (held.size === 0) return;
    const asked = [...held.keys()];
    const kept = new Set(await store.renew(asked));
    close(asked.filter((id) => !kept.has(id)));
  };

  const work = async (): Promise<number> => {
    try {
      await renew();
    } catch (error) {
      if (performance.now() - renewedAt > GIVE_UP) close([...held.keys()]);
      throw error;
    }
    renewedAt = performance.now();
    if (held.size < MAX_SOCKETS) for (const id of await store.claim(MAX_SOCKETS - held.size)) hold(id);
    return interval ?? (held.size > 0 ? RENEWAL : LOOK);
  };

  const task = startPeriodicTask({
    name: 'holding the sockets of chats',
    interval: interval ?? RENEWAL,
    retryAfter: interval ?? RENEWAL / 4,
    log,
    work,
  });
  return {
    /** Closes the sockets and ends their leases, so that another process can take them at once. */
    stop: async (): Promise<void> => {
      await task.stop();
      const sockets = [...held];
      close([...held.keys()]);
      await Promise.all(sockets.map(async ([, { ended }]) => ended));
      // Without the database they end by themselves.
      if (sockets.length > 0) await store.release(sockets.map(([id]) => id)).catch(() => undefined);
    },
  };
}

/** Opens the socket of a workspace, again when it has closed, until the signal or without a token. */
async function keepOpen(
  { open, onEnvelope, log }: Pick<SocketOptions, 'open' | 'onEnvelope' | 'log'>,
  { workspaceId, socket, signal }: { workspaceId: number; socket: HeldSocket; signal: AbortSignal },
): Promise<void> {
  // A function, because TypeScript would not expect the signal to change while the loop waits.
  const isStopping = () => signal.aborted;
  let failures = 0;
  while (!isStopping()) {
    const startedAt = performance.now();
    try {
      const opened = await open(workspaceId, {
        onEnvelope: (envelope) => onEnvelope(workspaceId, envelope),
        signal,
      });
      if (opened === undefined) return;
      socket.isOpen = true;
      await opened.closed;
      failures = performance.now() - startedAt < STABLE ? failures + 1 : 0;
    } catch (error) {
      if (isStopping()) return;
      failures += 1;
      const reason = error instanceof ChatError ? { reason: error.message } : { err: error };
      log.warn({ workspace: workspaceId, failures, ...reason }, 'the socket of a chat does not open');
    } finally {
      socket.isOpen = false;
    }
    // A single end is what Slack does to each socket: commands must not wait for it.
    const wait = failures < 2 ? 0 : Math.min(BACKOFF.most, BACKOFF.least * 2 ** (failures - 2));
    if (wait > 0) await delay(wait, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

function observe(metrics: Metrics, held: ReadonlyMap<number, HeldSocket>): void {
  const gauge = new Gauge({
    name: 'tocsin_chat_sockets',
    help: 'Sockets of chats that this process holds, by whether they are open',
    labelNames: ['state'],
    registers: [metrics],
    collect: () => {
      const open = [...held.values()].filter(({ isOpen }) => isOpen).length;
      gauge.set({ state: 'open' }, open);
      gauge.set({ state: 'waiting' }, held.size - open);
    },
  });
}
