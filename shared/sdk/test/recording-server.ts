import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeEach } from '@jest/globals';
import { loopbackServer } from '@tocsin/testing';
import { Tocsin } from '../src/index.ts';

export interface RecordedRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Respond = (response: ServerResponse, request: RecordedRequest) => void;

/** A server that keeps the requests that it gets, and responds to them as the test wants. */
interface RecordingServer {
  url: string;
  requests: RecordedRequest[];
  respond: Respond;
  close(): Promise<void>;
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Respond =>
  (response) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));

/** Sends these parts and then ends, or breaks. */
export const parts =
  (mediaType: string, texts: readonly string[], { breaks = false } = {}): Respond =>
  (response) => {
    response.writeHead(200, { 'Content-Type': mediaType });
    for (const part of texts) response.write(part);
    if (breaks) setImmediate(() => response.destroy());
    else response.end();
  };

/** The server and the client of a test file; each of its tests begins without requests. */
export async function startRecording() {
  const server = await startRecordingServer();
  beforeEach(() => {
    server.requests = [];
  });
  afterAll(async () => server.close());
  return {
    server,
    tocsin: new Tocsin({ baseUrl: `${server.url}/`, token: 'tcs_test' }),
    /** Responds in these ways, one after the other, and then always in the first one. */
    respondWith: (then: Respond, ...responses: Respond[]) => {
      server.respond = (...args) => (responses.shift() ?? then)(...args);
    },
  };
}

async function startRecordingServer(): Promise<RecordingServer> {
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      const request = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, body };
      recording.requests.push(request);
      recording.respond(response, request);
    });
  });
  const { port, close } = await loopbackServer(server);
  const recording: RecordingServer = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    respond: json(200, {}),
    close,
  };
  return recording;
}
