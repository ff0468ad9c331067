import { describe, expect, test } from '@jest/globals';
import { type ExportLine, InvalidRequestError } from '../src/index.ts';
import { json, parts, type Respond, startRecording } from './recording-server.ts';

const { server, tocsin, respondWith: respond } = await startRecording();

const incident = (title: string) => `{"kind":"incident","title":"${title}"}\n`;
const position = (cursor: string) => `{"kind":"position","cursor":"${cursor}"}\n`;
const END = '{"kind":"end"}\n';

const lines = (sent: string[], end?: { breaks: boolean }) => parts('application/x-ndjson', sent, end);
const respondWith = (...responses: Respond[]) => respond(lines([]), ...responses);

describe('an export', () => {
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
