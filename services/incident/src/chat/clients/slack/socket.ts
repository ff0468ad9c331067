import type { Socket } from 'node:net';
import { SocketModeClient } from '@slack/socket-mode';
import { type EgressProxy, openTunnel } from '@tocsin/safe-http';
import { Agent, buildConnector } from 'undici';
import { z } from 'zod';
import { ChatError } from '../chat.ts';
import { toChatError } from './errors.ts';
import { SILENT_LOGGER, SLACK_API_URL, transport } from './transport.ts';

/** What Slack sends over a socket, once for each acknowledgement that it misses. */
export interface SlackEnvelope {
  /** The same for each repetition. */
  id: string;
  /** `slash_commands`, `interactive`, or what else the app subscribes to. */
  type: string;
  body: unknown;
  /** Whether the acknowledgement may have an answer. */
  takesAnswer: boolean;
  /** Must be called within three seconds. @throws if the socket has closed: then Slack repeats the envelope */
  acknowledge(answer?: object): Promise<void>;
}

/** An open socket of Slack (Socket Mode). */
export interface SlackSocket {
  /** Resolves when it has closed, on whichever side; Slack closes each one after some hours. */
  closed: Promise<void>;
}

export interface SocketOptions {
  /** Of the app, `xapp-…`. */
  token: string;
  /** The API's base URL; default: Slack's. */
  apiUrl: string | undefined;
  proxy: EgressProxy | undefined;
  /** Must not throw. */
  onEnvelope: (envelope: SlackEnvelope) => void;
  /** Closes the socket, or ends the attempt to open it. */
  signal: AbortSignal;
}

/** Milliseconds until Slack has said hello. */
const OPEN_TIMEOUT = 30_000;
/** Milliseconds for the address of a socket. */
const CALL_TIMEOUT = 5_000;
/** Milliseconds that Slack has to answer the end of a socket. */
const CLOSE_TIMEOUT = 1_000;
/** More than any envelope has. */
const MAX_MESSAGE_BYTES = 1_048_576;

const envelope = z.object({
  envelope_id: z.string().min(1).max(200),
  type: z.string(),
  body: z.unknown(),
  accepts_response_payload: z.boolean().optional(),
  ack: z.custom<(answer?: object) => Promise<void>>((value) => typeof value === 'function'),
});

/**
 * Opens a socket over which Slack sends commands, so that the installation needs no public address. It does not open
 * another one when it has closed; the caller does.
 * @throws ChatError `not_connected` if Slack refuses the token
 */
export async function openSlackSocket(options: SocketOptions): Promise<SlackSocket> {
  const { token, apiUrl = SLACK_API_URL, proxy, onEnvelope, signal } = options;
  const ending = new AbortController();
  const calls = transport(apiUrl, { proxy, deadline: ending.signal, callTimeout: CALL_TIMEOUT });
  const { agent, destroySockets } = socketAgent(proxy, ending.signal);
  const client = new SocketModeClient({
    appToken: token,
    autoReconnectEnabled: false,
    logger: SILENT_LOGGER,
    dispatcher: agent,
    clientOptions: { slackApiUrl: apiUrl, fetch: calls.fetch, retryConfig: { retries: 0 } },
  });
  client.on('slack_event', (received: unknown) => {
    const { success, data } = envelope.safeParse(received);
    if (!success) return;
    const { envelope_id: id, type, body, accepts_response_payload: takesAnswer = false, ack } = data;
    onEnvelope({ id, type, body, takesAnswer, acknowledge: async (answer) => ack(answer) });
  });
  const { promise: closed, resolve: end } = Promise.withResolvers<void>();
  // Of an attempt that failed and of an open socket alike.
  client.on('disconnected', end);
  let isOpen = false;
  const close = () => {
    if (!isOpen) {
      end();
      return;
    }
    // It says goodbye, and does not wait for an answer longer than this.
    void client.disconnect().catch(() => undefined);
    setTimeout(end, CLOSE_TIMEOUT).unref();
  };
  signal.addEventListener('abort', close, { once: true });
  void closed.then(() => {
    signal.removeEventListener('abort', close);
    ending.abort();
    calls.close();
    destroySockets();
    void agent.destroy().catch(() => undefined);
  });
  const timer = setTimeout(end, OPEN_TIMEOUT);
  if (signal.aborted) close();
  try {
    await Promise.race([client.start(), closed.then(failToOpen)]);
    isOpen = true;
  } catch (error) {
    end();
    throw error === undefined ? unopened() : toChatError(error);
  } finally {
    clearTimeout(timer);
  }
  return { closed };
}

const unopened = () => new ChatError('unavailable', 'Slack’s socket did not open');
const failToOpen = () => {
  throw unopened();
};

/** Connects to the address that Slack has given, through the proxy of the operator if there is one. */
function socketAgent(proxy: EgressProxy | undefined, signal: AbortSignal) {
  const sockets = new Set<Socket>();
  let isClosed = false;
  const connect = buildConnector({ allowH2: false });
  const agent = new Agent({
    webSocket: { maxPayloadSize: MAX_MESSAGE_BYTES },
    connect: (target, callback) => {
      const connected: typeof callback = (...result) => {
        const [error, socket] = result;
        // One that was under way when everything was closed.
        if (isClosed) socket?.destroy();
        if (error === null) {
          sockets.add(socket);
          socket.once('close', () => sockets.delete(socket));
        }
        callback(...result);
      };
      const { protocol, hostname, port } = target;
      const proxyUrl = proxy?.urlFor(new URL(`${protocol}//${hostname}:${port}`));
      if (proxyUrl === undefined) {
        connect(target, connected);
        return;
      }
      const host = `${hostname}:${port === '' ? 443 : port}`;
      openTunnel({ proxy: proxyUrl, target: host, signal }).then(
        (httpSocket) => connect({ ...target, httpSocket }, connected),
        (error: unknown) => callback(error as Error, null),
      );
    },
  });
  return {
    agent,
    destroySockets: () => {
      isClosed = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}
