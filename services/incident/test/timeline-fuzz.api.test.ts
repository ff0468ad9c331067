import { expect, test } from '@jest/globals';
import type { Answer } from '@tocsin/testing';
import { anything, text } from '@tocsin/testing/arbitraries';
import fc from '@tocsin/testing/fuzz';
import { serviceForFile } from './service.ts';

let event: number;

const service = await serviceForFile();
const client = service.as();
const { body } = await client.post('/api/v1/incidents', { title: 'x' });
const incident = body.incident.id;
for (const title of ['ä', '100%', '__proto__']) {
  const added = await client.post(`/api/v1/incidents/${incident}/timeline`, { body: title, title, tags: [title] });
  event = added.body.event.id;
}

/** No input causes a 500, and every error names what is wrong. */
function expectSound({ status, body }: Answer): void {
  expect(status).toBeLessThan(500);
  if (status >= 400) expect(body).toMatchObject({ code: expect.any(String), request_id: expect.any(String) });
}

const moments = fc.constantFrom(
  '2026-11-20T09:00:00Z',
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59.9999Z',
  '9999-12-31T23:59:59-12:00',
  '2026-02-29T00:00:00Z',
);
const numbers = fc.constantFrom(1, 0, -1, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1e308, 0.5);
const value = fc.oneof(text, anything, moments, numbers, fc.boolean(), fc.array(text, { maxLength: 60 }));
const bodyOf = (...names: string[]) =>
  fc.oneof(
    { weight: 8, arbitrary: fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 4 }) },
    { weight: 1, arbitrary: fc.dictionary(fc.oneof(text, fc.constant('__proto__')), value, { maxKeys: 3 }) },
    { weight: 1, arbitrary: anything },
  );
const properties = [
  'started_at',
  'at',
  'ended_at',
  'is_ongoing',
  'group_id',
  'is_key',
  'type',
  'icon',
  'title',
  'tags',
];
const headers = fc.record(
  {
    'If-Service-Resource-Version': fc.oneof(
      fc.nat({ max: 400 }).map(String),
      fc.constantFrom('01', '1e3', '9007199254740993'),
    ),
    'Idempotency-Key': fc.constantFrom('a', 'b', 'c', 'ü', ' ', 'x'.repeat(129)),
  },
  { requiredKeys: [] },
);
const withHeaders = (given: Partial<Record<string, string>>) =>
  Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined));

test('creating and changing events', async () => {
  await fc.assert(
    fc.asyncProperty(bodyOf('body', 'body', 'source', ...properties), headers, async (body, given) => {
      const more = withHeaders(given);
      expectSound(await client.post(`/api/v1/incidents/${incident}/timeline`, body, more));
      const full = typeof body === 'object' && body !== null && !Array.isArray(body) ? { body: 'x', ...body } : body;
      expectSound(await client.post(`/api/v1/incidents/${incident}/timeline`, full, more));
      const { body: current } = await client.get(`/api/v1/timeline/${event}`);
      const revision = { 'If-Service-Resource-Version': String(current.event.revision) };
      expectSound(await client.patch(`/api/v1/timeline/${event}`, body, { ...revision, ...more }));
    }),
    { numRuns: 250 },
  );
});

test('listing timelines and changelogs', async () => {
  const names = [
    'limit',
    'cursor',
    'order',
    'type_or_source',
    'tag',
    'key_only',
    'group',
    'q',
    'suggestions',
    'started_from',
    'started_to',
  ];
  const parameter = fc.oneof(
    text,
    moments,
    numbers.map(String),
    fc.constantFrom('asc', 'desc', 'true', 'ungrouped', 'exclude', 'ai', '%', '\\', "'", '1|2'),
    text.map((cursor) => Buffer.from(`2026-11-20T09:00:00Z|${cursor}`).toString('base64url')),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(
          fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: text }),
          parameter,
        ),
        { maxLength: 5 },
      ),
      async (pairs) => {
        const search = pairs
          .map((pair) => pair.map((part) => encodeURIComponent(part.toWellFormed())).join('='))
          .join('&');
        for (const list of ['timeline', 'changelog']) {
          expectSound(await client.get(`/api/v1/incidents/${incident}/${list}?${search}`));
        }
      },
    ),
    { numRuns: 400 },
  );
});

test('lifecycle operations', async () => {
  const operations = ['resolve', 'close', 'reopen', 'archive', 'restore'];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...operations),
      bodyOf('resolution_note', 'close_note', 'reopen_note', 'expected_revision'),
      async (operation, body) => {
        expectSound(await client.post(`/api/v1/incidents/${incident}/${operation}`, body));
      },
    ),
    { numRuns: 250 },
  );
});

test('IDs of any form', async () => {
  const id = fc.oneof(
    text.filter((each) => !['', '.', '..'].includes(each)),
    numbers.map(String),
    fc.bigInt().map(String),
  );
  await fc.assert(
    fc.asyncProperty(
      id,
      fc.constantFrom('timeline/{}', 'incidents/{}/timeline', 'incidents/{}/changelog'),
      async (given, path) => {
        const encoded = encodeURIComponent(given.toWellFormed());
        const answer = await client.get(`/api/v1/${path.replace('{}', encoded)}`);
        expectSound(answer);
        expect([200, 400, 404]).toContain(answer.status);
      },
    ),
    { numRuns: 200 },
  );
});
