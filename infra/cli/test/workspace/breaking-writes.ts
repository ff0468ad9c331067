import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { loopbackServer } from '@tocsin/testing';

export type Fate = 'before' | 'after';

/** A proxy before a system, which ends the client at one of its writes: before the write arrives, or after it is done. */
export async function breakingWrites(systemUrl: string) {
  const target = new URL(systemUrl);
  const state = {
    /** Writes of the present client, without those that are only checked. */
    writes: 0,
    /** The write at which `end` is called; from 1. */
    at: Infinity,
    fate: 'before' as Fate,
    end: (): void => undefined,
  };
  const forward = (incoming: IncomingMessage, response: ServerResponse, onDone: () => boolean) => {
    const { method, headers, url: path } = incoming;
    const options = { host: target.hostname, port: target.port, method, headers, path };
    const outgoing = request(options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () => {
        if (onDone()) response.writeHead(answer.statusCode ?? 0, answer.headers).end(Buffer.concat(chunks));
      });
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer((incoming, response) => {
    const isWrite = incoming.method !== 'GET' && incoming.url?.includes('validate_only') !== true;
    if (isWrite) state.writes += 1;
    if (!isWrite || state.writes !== state.at) forward(incoming, response, () => true);
    else if (state.fate === 'before') state.end();
    else
      forward(incoming, response, () => {
        state.end();
        return false;
      });
  });
  const { port, close } = await loopbackServer(server);
  return Object.assign(state, { port, stop: close });
}
