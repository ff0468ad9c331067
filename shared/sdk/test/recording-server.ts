import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RecordedRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Respond = (response: ServerResponse, request: RecordedRequest) => void;

/** A server that keeps the requests that it gets, and responds to them as the test wants. */
export interface RecordingServer {
  url: string;
  requests: RecordedRequest[];
  respond: Respond;
  close(): Promise<void>;
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Respond =>
  (response) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));

export async function startRecordingServer(): Promise<RecordingServer> {
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      const request = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, body };
      recording.requests.push(request);
      recording.respond(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const recording: RecordingServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    respond: json(200, {}),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return recording;
}
