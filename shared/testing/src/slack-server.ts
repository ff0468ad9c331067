import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { loopbackServer } from './loopback-server.ts';
import { answer, type Behaviour } from './receiver-behaviours.ts';
import { type SlackSockets, slackSockets } from './slack-sockets.ts';
import type { SlackArguments } from './slack-state.ts';

/** A call as it arrived, whatever its outcome. */
export interface SlackCall {
  method: string;
  args: SlackArguments;
  token: string | undefined;
}

export interface SlackServer {
  url: string;
  connections: ReadonlySet<Socket>;
  sockets: SlackSockets;
  /** The address of a new socket. */
  newSocket(): string;
  stop(): Promise<void>;
}

/** @param handle handles a call; if it rejects, the connection is closed without a response */
export async function startSlackServer(
  handle: (call: SlackCall, response: ServerResponse) => Promise<void>,
): Promise<SlackServer> {
  const server = createServer((request, response) => {
    readCall(request)
      .then(async (call) => handle(call, response))
      .catch(() => request.socket.destroy());
  });
  const { sockets, newAddress } = slackSockets(server);
  const { port, connections, close } = await loopbackServer(server);
  const host = `127.0.0.1:${port}`;
  return { url: `http://${host}/api/`, connections, sockets, newSocket: () => newAddress(host), stop: close };
}

export const json = (status: number, body: object, headers: Record<string, string> = {}): Behaviour =>
  answer(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers }, JSON.stringify(body));

async function readCall(request: IncomingMessage): Promise<SlackCall> {
  const { url = '', headers } = request;
  const body = await text(request);
  const args: SlackArguments = Object.fromEntries(new URLSearchParams(body));
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  return { method: url.replace(/^\/api\//, ''), args, token };
}
