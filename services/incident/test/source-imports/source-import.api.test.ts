import { beforeEach, describe, expect, test } from '@jest/globals';
import { behave, eventually, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { configure } from '../configure.ts';
import { AT, declareFrom, document, jsonDocument, oneEvent, startImporting } from './source-import.ts';

const MEBIBYTE = 1_048_576;

const receiver = stopAfterAll(await startReceiver());
const gone = await startReceiver();
const service = stopAfterAll(await startImporting([receiver, gone]));
const client = service.as();
await gone.stop();
beforeEach(() => {
  receiver.respond = () => oneEvent;
  receiver.handshake = 'tls';
  receiver.requests.length = 0;
});

/** An incident with this document. */
const importing = async (behaviour: behave.Behaviour = oneEvent, url = receiver.url('/timeline')) => {
  receiver.respond = () => behaviour;
  return declareFrom(client, url);
};
const eventsOf = async (path: string, query = '') => (await client.get(`${path}/timeline${query}`)).body.events;

describe('an import', () => {
  test('fills the timeline in one revision and returns the updated incident', async () => {
    const url = receiver.url('/notes?key=1#top');
    const { body, headers, path } = await importing(
      jsonDocument(
        { at: '2026-11-20T12:00:00+01:00', title: 'Up', body: 'All is well', type: 'recovery', tags: ['b', 'a', 'B'] },
        { at: AT, body: ' Down ', type: 'resolution', source: 'them' },
      ),
      url,
    );
    expect(body.source_timeline_import).toEqual({ status: 'imported', event_count: 2 });
    expect(body.incident).toMatchObject({
      revision: 2,
      doc_url: url,
      event_count: 2,
      last_event_at: '2026-11-20T11:00:00.000Z',
      last_event_summary: 'Up',
    });
    // For the gateway: an import costs its events.
    expect(headers.get('X-Tocsin-Cost')).toBe('2');
    expect(headers.get('Service-Resource-Version')).toBe('2');
    expect((await client.get(path)).body).toEqual({ incident: body.incident });

    const expected = {
      incident_id: body.incident.id,
      revision: 1,
      source: 'import',
      source_ref: url,
      created_by: '42',
    };
    expect(await eventsOf(path)).toMatchObject([
      { ...expected, started_at: AT, title: '', body: ' Down ', type: 'import', tags: [], is_key: false, icon: '' },
      {
        ...expected,
        started_at: '2026-11-20T11:00:00.000Z',
        title: 'Up',
        body: 'All is well',
        type: 'recovery',
        tags: ['b', 'a'],
      },
    ]);
    expect(await eventsOf(path, '?type_or_source=IMPORT')).toHaveLength(2);
    expect(await eventsOf(path, '?q=DOWN')).toHaveLength(1);
    expect((await client.get(`${path}/changelog`)).body.changelog).toMatchObject([
      { revision: 2, actor: '42', changes: [{ to: 'Up' }, { to: ' Down ' }] },
    ]);
  });

  test('publishes the creation and then the timeline change', async () => {
    const { body } = await importing();
    const events = await eventually(() => {
      const events = service.published.filter(({ data }) => data.incident.id === body.incident.id);
      return events.length >= 3 && events;
    });
    expect(events.map(({ type, data }) => [type, data.incident.revision, data.changes])).toEqual([
      ['incident.created', 1, undefined],
      ['incident.updated', 2, []],
      ['timeline_event.created', 2, undefined],
    ]);
    expect(events[2]?.data.timeline_event).toMatchObject({ source: 'import', type: 'import', body: 'Down' });
  });

  test('requests the document once, uncompressed, with the supported types', async () => {
    await importing(oneEvent, receiver.url('/notes?key=1#top'));
    expect(receiver.requests).toMatchObject([
      {
        method: 'GET',
        path: '/notes?key=1',
        host: 'localhost',
        body: '',
        headers: {
          accept: 'application/json, text/csv, text/markdown, text/plain;q=0.9',
          'accept-encoding': 'identity',
        },
      },
    ]);
    expect(receiver.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  test('imports the first 500 events', async () => {
    const events = Array.from({ length: 501 }, (_, n) => ({ at: AT, body: `event ${n}`, tags: [`t${n}`] }));
    const { body, path } = await importing(jsonDocument(...events));
    expect(body.source_timeline_import).toEqual({
      status: 'imported',
      event_count: 500,
      reason: 'Only the first 500 events were imported',
    });
    expect(body.incident).toMatchObject({ revision: 2, event_count: 500, last_event_summary: 'event 499' });
    expect((await client.get(`${path}/timeline?tag=t499`)).body.matched_count).toBe(1);
    expect((await client.get(`${path}/timeline?tag=t500`)).body.matched_count).toBe(0);
  });

  test("reads times without a zone in the workspace's, and says so with what it leaves out", async () => {
    await configure(service.knex, 77, { time_zone: 'America/New_York' });
    const other = service.as({ workspace: { id: 77 } });
    const text = '## March 5, 2024\n\n- 14:32 Down\n- 14:40 CST Up\n- Later: fine\n';
    receiver.respond = () => document(text, 'text/plain; charset=utf-8');
    const { body, path } = await declareFrom(other, receiver.url('/acme/incidents/main/12.md'));
    expect(body.source_timeline_import).toEqual({
      status: 'imported',
      event_count: 1,
      reason: expect.stringMatching(/^2 invalid events were skipped; line 4: CST /),
      skipped_count: 2,
      skipped: [
        { number: 4, reason: expect.stringContaining('CST') },
        { number: 5, reason: 'it does not start with a time' },
      ],
      time_zones: [{ time_zone: 'America/New_York', source: 'workspace' }],
    });
    expect((await other.get(`${path}/timeline`)).body.events).toMatchObject([
      { started_at: '2024-03-05T19:32:00.000Z', body: 'Down', type: 'import' },
    ]);
  });

  test('reads a document of exactly a mebibyte', async () => {
    const text = JSON.stringify({ events: [{ at: AT, body: 'Down' }] }).padEnd(MEBIBYTE, ' ');
    const { body } = await importing(document(text));
    expect(body.source_timeline_import).toEqual({ status: 'imported', event_count: 1 });
  });

  test('does not happen unless requested', async () => {
    for (const more of [{}, { import_source_timeline_event: false }]) {
      const { status, body } = await client.post('/api/v1/incidents', { title: 'x', doc_url: receiver.url(), ...more });
      expect(status).toBe(201);
      expect(Object.keys(body)).toEqual(['incident']);
    }
    expect((await client.post('/api/v1/incidents', { title: 'x', import_source_timeline_event: false })).status).toBe(
      201,
    );
    expect(receiver.requests).toEqual([]);
  });

  test.each([
    ['doc_url', { import_source_timeline_event: true }],
    ['doc_url', { import_source_timeline_event: true, doc_url: '' }],
    ['import_source_timeline_event', { import_source_timeline_event: 'true', doc_url: 'https://localhost/' }],
    ['import_source_timeline_event', { import_source_timeline_event: null, doc_url: 'https://localhost/' }],
  ])('is rejected with %s: %j', async (field, more) => {
    const { status, body } = await client.post('/api/v1/incidents', { title: 'x', ...more });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'invalid_request', field });
  });

  test('does not start for a rejected incident', async () => {
    const body = { title: 'x', doc_url: receiver.url(), import_source_timeline_event: true, severity: 'nonsense' };
    expect((await client.post('/api/v1/incidents', body)).body).toMatchObject({ field: 'severity' });
    expect(receiver.requests).toEqual([]);
  });
});

/** Checks that a failed import did not change the incident. */
async function expectOutcome(
  { body, headers, path }: Awaited<ReturnType<typeof declareFrom>>,
  status: string,
  why: RegExp,
) {
  expect(body.source_timeline_import).toMatchObject({ status, reason: expect.stringMatching(why) });
  expect(body.source_timeline_import).not.toHaveProperty('event_count');
  expect(body.source_timeline_import.reason).toMatch(/^[A-Z]/);
  expect(body.source_timeline_import.reason).not.toMatch(/127\.0|10\.0|localhost|\bE[A-Z]{4,}/);
  expect(body.incident).toMatchObject({ revision: 1, event_count: 0, last_event_at: null });
  expect(headers.get('Service-Resource-Version')).toBe('1');
  expect((await client.get(path)).body).toEqual({ incident: body.incident });
}

describe('an import fails', () => {
  test.each([500, 503, 400, 408, 418, 429])('when the server returns %i', async (status) => {
    await expectOutcome(await importing(behave.answer(status)), 'failed', new RegExp(`status ${status}`));
  });

  test.each([301, 302, 303, 307, 308])('for the redirect %i, which is not followed', async (status) => {
    const { requests } = receiver;
    const location = { Location: receiver.url('/elsewhere') };
    await expectOutcome(await importing(behave.answer(status, location)), 'failed', /redirects are not followed/);
    expect(requests).toHaveLength(1);
  });

  test.each([
    ['the connection is closed', behave.close()],
    ['the document is cut short', behave.truncated()],
    ['the answer is not HTTP', behave.garbage()],
  ])('when %s', async (_what, behaviour) => {
    await expectOutcome(await importing(behaviour), 'failed', /connection/);
  });

  test('when the port is closed', async () => {
    await expectOutcome(await importing(undefined, gone.url('/')), 'failed', /connection/);
  });

  test('when the host name does not exist', async () => {
    await expectOutcome(await importing(undefined, 'https://missing.example/notes'), 'failed', /public address/);
  });

  test('when its host name has a private address, with the same message as an unknown name', async () => {
    const [unknown, ...inside] = await Promise.all(
      ['missing', 'private', 'mixed'].map(async (name) => importing(undefined, `https://${name}.example/notes`)),
    );
    const result = unknown?.body.source_timeline_import;
    expect(result).toEqual({ status: 'failed', reason: expect.any(String) });
    expect(inside.map(({ body }) => body.source_timeline_import)).toEqual([result, result]);
    expect(receiver.requests).toEqual([]);
  });

  test('when the TLS handshake fails', async () => {
    receiver.handshake = 'plain';
    await expectOutcome(await importing(), 'failed', /TLS certificate/);
    expect(receiver.requests).toEqual([]);
  });
});

describe('a document is unavailable', () => {
  test.each([401, 403, 404, 410])('when the server returns %i', async (status) => {
    await expectOutcome(await importing(behave.answer(status)), 'unavailable', new RegExp(`status ${status}`));
  });
});

describe('a document is invalid', () => {
  test.each([
    ['empty', document(''), /empty/],
    ['an answer without a body', behave.answer(204, { 'Content-Type': 'text/csv' }), /empty/],
    ['without a valid event', jsonDocument({ at: 'noon', body: 'x' }, {}), /no valid event \(2 invalid\)/],
    ['announced as over 1 MiB', behave.slowBody(MEBIBYTE + 1), /larger than 1 MiB/],
    ['over 1 MiB', document(' '.repeat(MEBIBYTE + 1)), /larger than 1 MiB/],
    ['without end', behave.endlessBody(), /larger than 1 MiB/],
  ])('%s', async (_what, behaviour, why) => {
    await expectOutcome(await importing(behaviour), 'invalid', why);
  });
});

describe('a document is unsupported', () => {
  test.each(['text/html', 'application/pdf', ''])('of the type %p', async (type) => {
    await expectOutcome(await importing(document(`- ${AT} Down`, type)), 'unsupported', /content type/);
  });

  test('without a type', async () => {
    await expectOutcome(await importing(behave.answer(200, {}, `- ${AT} Down`)), 'unsupported', /content type/);
  });

  test('with a content encoding', async () => {
    await expectOutcome(await importing(behave.compressed(1_000)), 'unsupported', /compressed/);
  });

  test.each([
    ['http', () => `http://localhost:${receiver.port}/`, /https/],
    ['credentials', () => `https://ana:secret@localhost:${receiver.port}/`, /credentials/],
    ['another port', () => 'https://private.example:8443/', /port 443/],
    ['a place on loopback that is not named', () => `https://127.0.0.1:${receiver.port}/`, /port 443/],
    ['loopback', () => 'https://localhost/', /public address/],
    ['a name that is local by itself', () => 'https://metadata.google.internal/', /public address/],
    ['a literal address', () => 'https://169.254.169.254/latest/meta-data', /public address/],
    ['a literal address in disguise', () => 'https://[::ffff:10.0.0.1]/', /public address/],
  ])('behind %s', async (_what, url, why) => {
    await expectOutcome(await importing(undefined, url()), 'unsupported', why);
    expect(receiver.requests).toEqual([]);
  });
});

test("log lines contain the import but not the document's full URL", async () => {
  const { body } = await importing(
    jsonDocument({ at: AT, body: 'unheard-of' }),
    receiver.url('/secret-path?token=abc'),
  );
  const line = service
    .logged()
    .split('\n')
    .find((each) => each.includes('timeline import finished') && each.includes(`"incident":${body.incident.id},`));
  expect(JSON.parse(line ?? '')).toMatchObject({ source: 'localhost', result: 'imported', events: 1, workspace: 1 });
  expect(service.logged()).not.toMatch(/secret-path|token=abc|unheard-of/);
});
