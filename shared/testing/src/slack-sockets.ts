import type { Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';

/** A request that Slack sends over a socket, as its documentation has it (Socket Mode). */
export interface SlackEnvelope {
  type: 'slash_commands' | 'interactive' | 'events_api';
  payload: object;
  envelope_id?: string;
  accepts_response_payload?: boolean;
}

/** The acknowledgement of an envelope. */
interface SlackAcknowledgement {
  envelope_id: string;
  /** What it answers; empty: nothing. */
  payload: Record<string, unknown>;
  /** Milliseconds after the envelope. */
  after: number;
}

/** The sockets of a fake Slack, which sends each request over one of them. */
export interface SlackSockets {
  /** How many are open and have been greeted. */
  readonly open: number;
  /** How many were opened so far. */
  readonly opened: number;
  /** While true, Slack greets no socket. */
  isSilent: boolean;
  /** Sends a request and returns its acknowledgement; without one the second attempt is over another socket. */
  send(envelope: SlackEnvelope): Promise<SlackAcknowledgement>;
  /** Sends a request as Slack repeats it. */
  repeat(envelope: SlackEnvelope): Promise<SlackAcknowledgement>;
  /** Asks the app to open another one, as Slack does with each after some hours. */
  refresh(): void;
  /** Closes all without a word. */
  destroy(): void;
}

/** Where the sockets of a server are, with a ticket that is valid once. */
const PATH = '/link/';

/** @param server the HTTP server of the API */
export function slackSockets(server: Server): { sockets: SlackSockets; newAddress: (host: string) => string } {
  const tickets = new Set<string>();
  const greeted = new Set<WebSocket>();
  const waiting = new Map<string, (acknowledgement: Omit<SlackAcknowledgement, 'after'>) => void>();
  /** What is sent over the next socket. */
  const unsent = new Set<() => void>();
  let opened = 0;
  let lastId = 0;
  const webSockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://slack');
    if (pathname !== PATH || !tickets.delete(searchParams.get('ticket') ?? '')) return void socket.destroy();
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      opened += 1;
      webSocket.on('error', () => undefined);
      webSocket.once('close', () => greeted.delete(webSocket));
      webSocket.on('message', (data: Buffer) => {
        const { envelope_id: id, payload } = JSON.parse(data.toString()) as SlackAcknowledgement;
        waiting.get(id)?.({ envelope_id: id, payload });
        waiting.delete(id);
      });
      if (sockets.isSilent) return;
      const hello = { type: 'hello', num_connections: greeted.size + 1, connection_info: { app_id: 'A0000001' } };
      webSocket.send(JSON.stringify(hello));
      greeted.add(webSocket);
      const transmissions = [...unsent];
      unsent.clear();
      for (const transmit of transmissions) transmit();
    });
  });

  const deliver = async (envelope: SlackEnvelope, repetition: object) => {
    const id = envelope.envelope_id ?? `envelope-${++lastId}`;
    const sentAt = performance.now();
    const { promise, resolve } = Promise.withResolvers<Omit<SlackAcknowledgement, 'after'>>();
    waiting.set(id, resolve);
    const text = JSON.stringify({ accepts_response_payload: false, ...envelope, envelope_id: id, ...repetition });
    /** Over another socket if this one closes without an acknowledgement, as soon as there is one. */
    const transmit = () => {
      if (!waiting.has(id)) return;
      const [webSocket] = greeted;
      if (webSocket === undefined) return void unsent.add(transmit);
      webSocket.once('close', transmit);
      webSocket.send(text);
    };
    transmit();
    return { ...(await promise), after: performance.now() - sentAt };
  };

  const sockets: SlackSockets = {
    get open() {
      return greeted.size;
    },
    get opened() {
      return opened;
    },
    isSilent: false,
    send: async (envelope) => deliver(envelope, {}),
    repeat: async (envelope) => deliver(envelope, { retry_attempt: 1, retry_reason: 'timeout' }),
    refresh: () => {
      for (const webSocket of greeted) {
        greeted.delete(webSocket);
        webSocket.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested', debug_info: {} }));
      }
    },
    destroy: () => {
      for (const webSocket of webSockets.clients) webSocket.terminate();
    },
  };
  return {
    sockets,
    newAddress: (host) => {
      const ticket = `ticket-${++lastId}`;
      tickets.add(ticket);
      return `ws://${host}${PATH}?ticket=${ticket}&app_id=A0000001`;
    },
  };
}
