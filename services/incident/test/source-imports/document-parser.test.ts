import { expect, test } from '@jest/globals';
import { documentParser } from '../../src/source-imports/clients/document-parser.ts';

const received = (contentType: string, text: string) => ({
  contentType,
  body: Buffer.from(text),
  path: '/',
  timeZone: 'UTC',
});
const csv = (text: string) => received('text/csv', text);

test('parses one document after the other', async () => {
  const parse = documentParser();
  const documents = [
    csv('at,body\n2026-11-20T10:00:00Z,first\n'),
    received('text/html', 'x'),
    csv('at,body\n2026-11-20T10:00:00Z,second\n'),
  ];
  expect(await Promise.all(documents.map(parse))).toMatchObject([
    { status: 'imported', events: [{ startedAt: '2026-11-20T10:00:00.000Z', body: 'first' }] },
    { status: 'unsupported' },
    { status: 'imported', events: [{ body: 'second' }] },
  ]);
});

test('gives up on a document that takes too long, and parses the next one', async () => {
  const parse = documentParser(1_000);
  // Every row has another length than the header, which takes the CSV library long to report.
  const slow = csv(`at,body\n${' \n'.repeat(520_000)}`);
  const [given, next] = await Promise.all([slow, csv('at,body\n2026-11-20T10:00:00Z,x\n')].map(parse));
  expect(given).toEqual({ status: 'invalid', reason: 'The document takes too long to read' });
  expect(next).toMatchObject({ status: 'imported' });
});
