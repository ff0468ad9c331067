import { setTimeout as delay } from 'node:timers/promises';
import type { Metrics } from '@tocsin/runtime';
import { carryOut } from './carry-out.ts';
import { answers } from './clients/answers.ts';
import { operations } from './operations.ts';
import { receiveRequests } from './receive-requests.ts';
import { holdSockets } from './sockets.ts';

/** Milliseconds that requests under way have for their answers when the process stops. */
const DRAIN_TIMEOUT = 10_000;

type StartOptions = Omit<Parameters<typeof carryOut>[0], 'operations'> &
  Parameters<typeof operations>[0] &
  Parameters<typeof answers>[0] & {
    metrics: Metrics;
    /** Milliseconds between two looks for sockets. */
    interval: number | undefined;
  };

/** Receives commands from the chats of workspaces, and carries them out. */
export function startCommands(options: StartOptions) {
  const { chats, egress, apiUrl, log, metrics, interval, database } = options;
  const requests = receiveRequests({
    carry: carryOut({ ...options, operations: operations(options) }),
    ...{ send: answers(options), log, metrics },
  });
  const sockets = holdSockets({
    ...{ database, log, metrics, interval },
    onEnvelope: requests.receive,
    open: async (workspaceId, { onEnvelope, signal }) => {
      const token = await chats.findAppToken(workspaceId);
      if (token === undefined) return undefined;
      // Loaded when a workspace needs it: its packages take 12 MiB.
      const { openSlackSocket } = await import('../chat/clients/slack/socket.ts');
      return openSlackSocket({ token, apiUrl, proxy: egress.proxy, onEnvelope, signal });
    },
  });
  return {
    stop: async (): Promise<void> => {
      await sockets.stop();
      await Promise.race([requests.drain(), delay(DRAIN_TIMEOUT, undefined, { ref: false })]);
    },
  };
}
