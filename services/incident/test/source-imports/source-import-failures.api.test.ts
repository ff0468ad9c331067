import { beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, behave, eventually, holdTransaction, refusal, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { declareFrom, document, oneEvent, startImporting } from './source-import.ts';
import { freshWorkspace } from '../fields.ts';
import { countWaiting } from '../service.ts';

const receiver = stopAfterAll(await startReceiver());
const service = stopAfterAll(await startImporting([receiver]));
const client = service.as();
const { knex: database } = service;
beforeEach(() => {
  receiver.respond = () => oneEvent;
  receiver.requests.length = 0;
});

let keys = 0;
const newKey = () => ({ 'Idempotency-Key': `import-${(keys += 1)}` });
const stateOf = async (key: Record<string, string>) => {
  const row = await database('idempotency_keys')
    .where({ key: key['Idempotency-Key'] })
    .first<{ state: string }>('state');
  return row?.state;
};
/** Makes the key's claim as old as if its process had crashed long ago. */
const age = async (key: Record<string, string>) =>
  database('idempotency_keys')
    .where({ key: key['Idempotency-Key'] })
    .update({ claimed_at: database.raw(`now() - interval '2 minutes'`) });

/** The latest incident. */
const latest = async (): Promise<number> => {
  const row = await database('incidents').max<{ max: number }>('id as max').first();
  return row?.max ?? 0;
};
/** Returns the document after `work`. */
const after =
  (happening: () => Promise<unknown>): behave.Behaviour =>
  (response) =>
    void happening().then(() => oneEvent(response));

/** Makes the table reject every new row while `work` runs. */
async function refusing<Value>(table: string, work: () => Promise<Value>): Promise<Value> {
  await database.raw(`create function refuse() returns trigger language plpgsql as $$ begin raise 'no room'; end $$`);
  await database.raw(`create trigger refuse before insert on ${table} for each row execute function refuse()`);
  try {
    return await work();
  } finally {
    await database.raw(`drop function refuse() cascade`);
  }
}

const create = async (key: Record<string, string>) =>
  client.post('/api/v1/incidents', { title: 'x', doc_url: receiver.url(), import_source_timeline_event: true }, key);

describe('with an Idempotency-Key', () => {
  const expectReplay = (replay: Answer, first: Answer) => {
    expect({ status: replay.status, text: replay.text }).toEqual({ status: first.status, text: first.text });
    expect(replay.headers.get('Idempotency-Replayed')).toBe('true');
    expect(replay.headers.get('Service-Resource-Version')).toBe(first.headers.get('Service-Resource-Version'));
  };

  test.each([
    ['an import', oneEvent, 'imported', '2'],
    ['an import that failed', behave.answer(500), 'failed', '1'],
    ['a document that is none', document('nothing'), 'invalid', '1'],
  ])('%s is repeated byte by byte without another fetch', async (_what, behaviour, status, revision) => {
    receiver.respond = () => behaviour;
    const key = newKey();
    const first = await create(key);
    expect(first).toMatchObject({ status: 201, body: { source_timeline_import: { status } } });
    expect(first.headers.get('Service-Resource-Version')).toBe(revision);
    expect(first.headers.get('Idempotency-Replayed')).toBeNull();
    const made = await latest();
    receiver.respond = () => oneEvent;
    expectReplay(await create(key), first);
    expect({ requests: receiver.requests.length, made: await latest() }).toEqual({ requests: 1, made });
  });

  test('a repetition has to wait while the document is fetched', async () => {
    const key = newKey();
    let repetition: Answer | undefined;
    receiver.respond = () => after(async () => void (repetition = await create(key)));
    const first = await create(key);
    expect(repetition).toMatchObject(refusal(409, 'idempotency_in_progress'));
    expect(repetition?.headers.get('Retry-After')).toBe('1');
    expectReplay(await create(key), first);
  });

  test('a crash between the incident and the result leaves an unknown result', async () => {
    const key = newKey();
    receiver.respond = () => behave.hang();
    const first = create(key);
    await eventually(() => receiver.requests.length === 1, { what: 'the request for the document' });
    // The state after a crash at this point: the incident and a claim without a result.
    expect(await stateOf(key)).toBe('outside');
    const made = await latest();
    expect((await client.get(`/api/v1/incidents/${made}`)).body.incident).toMatchObject({
      revision: 1,
      event_count: 0,
    });
    await age(key);
    const repetition = await create(key);
    expect(repetition).toMatchObject(refusal(409, 'idempotency_outcome_unknown'));
    expect({ requests: receiver.requests.length, made: await latest() }).toEqual({ requests: 1, made });
    receiver.closeConnections();
    expect((await first).body.source_timeline_import).toMatchObject({ status: 'failed' });
  });

  test('a failed create leaves the key unused', async () => {
    const key = newKey();
    expect(await refusing('incidents', async () => create(key))).toMatchObject({ status: 500 });
    expect(await stateOf(key)).toBeUndefined();
    expect(receiver.requests).toEqual([]);
    expect(await create(key)).toMatchObject({ status: 201, body: { source_timeline_import: { status: 'imported' } } });
  });

  test('a rejected request leaves the key unused', async () => {
    const key = newKey();
    expect(
      await client.post('/api/v1/incidents', { title: 'x', import_source_timeline_event: true }, key),
    ).toMatchObject({
      status: 400,
    });
    expect(await create(key)).toMatchObject({ status: 201 });
  });

  test('a result that cannot be stored is returned, and unknown to a repetition', async () => {
    const key = newKey();
    receiver.respond = () =>
      after(async () =>
        database('idempotency_keys')
          .where({ key: key['Idempotency-Key'] })
          .update({ token: database.raw('gen_random_uuid()') }),
      );
    const first = await create(key);
    expect(first).toMatchObject({ status: 201, body: { source_timeline_import: { status: 'failed' } } });
    expect(first.body.incident).toMatchObject({ revision: 1, event_count: 0 });
    await age(key);
    expect(await create(key)).toMatchObject(refusal(409, 'idempotency_outcome_unknown'));
  });
});

describe('changes during the fetch', () => {
  const declare = async () => declareFrom(client, receiver.url(), newKey());

  test('a change of the incident is preserved', async () => {
    receiver.respond = () =>
      after(async () =>
        client.patch(
          `/api/v1/incidents/${await latest()}`,
          { title: 'Everything is down' },
          { 'If-Service-Resource-Version': '1' },
        ),
      );
    const { body, path } = await declare();
    expect(body.incident).toMatchObject({ revision: 3, title: 'Everything is down', event_count: 1 });
    expect((await client.get(path)).body).toEqual({ incident: body.incident });
  });

  test('an archived incident gets no events and is returned as archived', async () => {
    receiver.respond = () => after(async () => client.post(`/api/v1/incidents/${await latest()}/archive`));
    const { body, headers, path } = await declare();
    expect(body.source_timeline_import).toEqual({
      status: 'failed',
      reason: 'The incident was archived before the events could be added',
    });
    expect(body.incident).toMatchObject({ revision: 2, event_count: 0, archived_at: expect.any(String) });
    expect(headers.get('Service-Resource-Version')).toBe('2');
    expect((await client.get(path)).body).toEqual({ incident: body.incident });
  });

  test('a deleted incident is returned as created', async () => {
    receiver.respond = () =>
      after(async () =>
        database('incidents')
          .where({ id: await latest() })
          .delete(),
      );
    const { body, path } = await declare();
    expect(body.source_timeline_import).toMatchObject({ status: 'failed', reason: expect.stringContaining('deleted') });
    expect(body.incident).toMatchObject({ revision: 1, title: 'Checkout is down' });
    expect((await client.get(path)).status).toBe(404);
  });

  test('a database error while saving events is logged, and the create succeeds', async () => {
    const { body, path } = await refusing('timeline_events', declare);
    expect(body.source_timeline_import).toEqual({
      status: 'failed',
      reason: 'The events of the document could not be saved',
    });
    expect(body.incident).toMatchObject({ revision: 1, event_count: 0 });
    expect((await client.get(path)).body).toEqual({ incident: body.incident });
    expect(service.logged()).toContain('cannot save the events of a document');
  });
});

test('imports that wait for the database leave connections to others', async () => {
  const workspaces = Array.from({ length: 3 }, () => freshWorkspace(service));
  const unlock = await holdTransaction(database, async (trx) =>
    trx.raw('lock table timeline_events in access exclusive mode'),
  );
  const imports = workspaces.flatMap((workspace) =>
    Array.from({ length: 3 }, async () => declareFrom(workspace.client, receiver.url())),
  );
  try {
    await eventually(() => receiver.requests.length === imports.length, { what: 'all documents' });
    await eventually(async () => (await countWaiting(database, 'timeline_events')) >= 2, { what: 'imports that save' });
    const other = freshWorkspace(service);
    const path = await other.declare();
    expect((await other.client.get(path)).status).toBe(200);
    expect((await other.client.get('/api/v1/incidents')).status).toBe(200);
  } finally {
    await unlock();
  }
  const results = await Promise.all(imports);
  expect(results.map(({ body }) => body.source_timeline_import.status)).toEqual(imports.map(() => 'imported'));
});

describe('the time limit', () => {
  test.each([
    ['no answer', behave.hang()],
    ['an answer without end', behave.slowBody(1_000)],
    ['headers without end', behave.slowHeaders()],
  ])('applies to %s', async (_what, behaviour) => {
    const hurried = await startImporting([receiver], { documentTimeout: 400 });
    try {
      receiver.respond = () => behaviour;
      const { body } = await declareFrom(hurried.as(), receiver.url());
      expect(body.source_timeline_import).toEqual({ status: 'failed', reason: 'The document did not arrive in time' });
      expect(body.incident).toMatchObject({ revision: 1, event_count: 0 });
    } finally {
      await hurried.stop();
    }
  });
});
