import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type ExportLine, InvalidRequestError, Tocsin } from '../src/index.ts';
import { json, type RecordingServer, startRecordingServer } from './recording-server.ts';

type Part = RecordingServer['respond'];

const incident = (title: string) => `{"kind":"incident","title":"${title}"}\n`;
const position = (cursor: string) => `{"kind":"position","cursor":"${cursor}"}\n`;
const END = '{"kind":"end"}\n';

/** A response of these parts, which then ends or breaks. */
const lines =
  (parts: string[], { breaks = false } = {}): Part =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
    for (const part of parts) response.write(part);
    if (breaks) setImmediate(() => response.destroy());
    else response.end();
  };

describe('an export', () => {
  let server: RecordingServer;
  let tocsin: Tocsin;
  beforeAll(async () => {
    server = await startRecordingServer();
    tocsin = new Tocsin({ baseUrl: server.url, token: 'tcs_test' });
  });
  beforeEach(() => {
    server.requests = [];
  });
  afterAll(async () => server.close());

  const respondWith = (...responses: Part[]) => {
    server.respond = (...args) => (responses.shift() ?? lines([]))(...args);
  };
  const textOf = ({ kind, title, cursor }: ExportLine) => [kind, title, cursor].filter(Boolean).join(' ');
  const paths = () => server.requests.map(({ path }) => path.replace('/api/v1/exports/incidents', ''));

  test('goes on behind the last position of a response that broke, was refused for a time, or has ended', async () => {
    respondWith(
      lines([incident('a'), position('1'), incident('b'), incident('lost').slice(0, 20)], { breaks: true }),
      json(503, { code: 'service_unavailable', message: 'Busy', request_id: 'r' }, { 'Retry-After': '0' }),
      lines([incident('b').slice(0, 9), incident('b').slice(9), position('2')]),
      lines([incident('c'), END]),
    );
    const interruptions: string[] = [];
    const read: string[] = [];
    for await (const line of tocsin.incidents.export({ onInterruption: ({ code }) => interruptions.push(code) })) {
      read.push(textOf(line));
    }
    expect(read).toEqual(['incident a', 'position 1', 'incident b', 'incident b', 'position 2', 'incident c', 'end']);
    expect(paths()).toEqual(['', '?cursor=1', '?cursor=1', '?cursor=2']);
    expect(interruptions).toEqual(['connection_lost', 'service_unavailable']);
  });

  test('begins behind a cursor, and ends with a refusal', async () => {
    respondWith(json(400, { code: 'invalid_request', message: 'Is not a cursor', field: 'cursor', request_id: 'r' }));
    await expect(tocsin.incidents.export({ cursor: 'x y' }).next()).rejects.toBeInstanceOf(InvalidRequestError);
    expect(paths()).toEqual(['?cursor=x+y']);
  });

  test('fails when responses end again and again without a position', async () => {
    respondWith();
    await expect(tocsin.incidents.export().next()).rejects.toThrow('The export makes no progress');
    expect(paths().length).toBeLessThan(10);
  });
});
