import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { asUser, type Client, eventually, httpClient, refusal, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { storageStore } from '../../src/storage/store/storage-store.ts';
import { AT, declareFrom, jsonDocument, startImporting } from '../source-imports/source-import.ts';
import { aField } from '../snapshots.ts';

const INCIDENTS = '/api/v1/incidents';
const MEBIBYTE = 1_048_576;

const receiver = stopAfterAll(await startReceiver());
const service = stopAfterAll(await startImporting([receiver]));
afterEach(() => void (service.owners.pageSize = 2_000));

let workspaces = 5_000;
/** A workspace of its own; the client's requests carry these quotas. */
const workspaceWith = (quotas: Record<string, number | null>) => {
  const id = (workspaces += 1);
  const withQuotas = (values: Record<string, number | null>) => service.as({ workspace: { id, quotas: values } });
  return { id, client: withQuotas(quotas), withQuotas };
};

const declare = async (client: Client, more: object = {}): Promise<string> => {
  const { status, body, text } = await client.post(INCIDENTS, { title: 'x', ...more });
  if (status !== 201) throw new Error(text);
  return `${INCIDENTS}/${body.incident.id}`;
};

const refused = (quota: string) =>
  refusal(409, 'invalid_resource_state', { message: expect.stringContaining(`(quota ${quota})`) });

describe('the quota of incidents', () => {
  test('is exact for concurrent creates, whose numbers have no gaps', async () => {
    const { client } = workspaceWith({ incidents: 4 });
    const answers = await Promise.all(
      Array.from({ length: 16 }, async (_, index) => {
        const key: Record<string, string> = index % 2 === 0 ? { 'Idempotency-Key': `k${index}` } : {};
        return client.post(INCIDENTS, { title: 'x' }, key);
      }),
    );
    const created = answers.filter(({ status }) => status === 201);
    expect(created.map(({ body }) => body.incident.human_id).sort()).toEqual(['INC-1', 'INC-2', 'INC-3', 'INC-4']);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expect(answer).toMatchObject(refused('incidents'));
  });

  test('may be 0, counts archived incidents, and can be raised', async () => {
    const { client, withQuotas } = workspaceWith({ incidents: 0 });
    expect(await client.post(INCIDENTS, { title: 'x' })).toMatchObject(refused('incidents'));
    const one = withQuotas({ incidents: 1 });
    const path = await declare(one);
    expect((await one.post(`${path}/archive`)).status).toBe(200);
    expect(await one.post(INCIDENTS, { title: 'x' })).toMatchObject(refused('incidents'));
    expect((await one.post(`${path}/restore`)).status).toBe(200);
    await declare(withQuotas({}));
  });
});

describe('the quota of timeline events', () => {
  test('is exact for concurrent creates, and a deleted event makes room', async () => {
    const { client } = workspaceWith({ timeline_events: 3 });
    const path = await declare(client);
    const add = async () => client.post(`${path}/timeline`, { body: 'x' });
    const answers = await Promise.all(Array.from({ length: 9 }, add));
    const created = answers.filter(({ status }) => status === 201);
    expect(created).toHaveLength(3);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer).toMatchObject(refused('timeline_events'));
    }
    expect((await client.get(path)).body.incident.event_count).toBe(3);
    const one = `/api/v1/timeline/${created[0]?.body.event.id}`;
    expect((await client.patch(one, { body: 'y' }, { 'If-Service-Resource-Version': '1' })).status).toBe(200);
    expect((await client.delete(one)).status).toBe(204);
    expect((await add()).status).toBe(201);
  });

  test('is respected by imports, which bring as many as fit', async () => {
    const { client, withQuotas } = workspaceWith({ timeline_events: 2 });
    receiver.respond = () => jsonDocument(...[1, 2, 3].map((number) => ({ at: AT, body: `Event ${number}` })));
    const { body, path } = await declareFrom(client, receiver.url('/notes'));
    expect(body.source_timeline_import).toEqual({
      status: 'imported',
      event_count: 2,
      reason: 'Only 2 events: an incident may have at most 2 (quota timeline_events)',
    });
    expect((await client.get(`${path}/timeline`)).body.events).toHaveLength(2);
    const none = await declareFrom(withQuotas({ timeline_events: 0 }), receiver.url('/notes'));
    expect(none.body.source_timeline_import).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('(quota timeline_events)'),
    });
  });

  test('does not keep anybody from resolving with a note', async () => {
    const { client } = workspaceWith({ timeline_events: 0 });
    const path = await declare(client);
    expect(await client.post(`${path}/timeline`, { body: 'x' })).toMatchObject(refused('timeline_events'));
    const { status, body } = await client.post(`${path}/resolve`, { resolution_note: 'Fixed' });
    expect(status).toBe(200);
    expect(body.timeline_event.body).toBe('Fixed');
    // Notes have a bound, too.
    const { knex: database } = service;
    await database('incidents').where({ id: body.incident.id }).update({ event_count: 1_000 });
    expect(await client.post(`${path}/reopen`, { reopen_note: 'Again' })).toMatchObject(refused('timeline_events'));
    expect((await client.post(`${path}/reopen`)).status).toBe(200);
  });
});

describe('the quota of storage', () => {
  // A text that cannot be compressed: what is measured is what Postgres stores.
  const large = randomBytes(37_500).toString('base64');
  const addEvent = async (client: Client, path: string, body: string) => client.post(`${path}/timeline`, { body });
  const { knex: database } = service;
  const store = storageStore(database);
  const own = (id: number) => database('workspace_storage').where({ workspace_id: id });

  /** Takes all measurements that are due, and returns what is known of a workspace then. */
  async function measure(id: number): Promise<number> {
    await own(id).update({ due_at: database.fn.now(), next_number: 0, next_key: null, counted_bytes: 0 });
    const isMeasured = async () => {
      await store.measure();
      return !(await own(id).where('due_at', '<=', database.fn.now()).first('workspace_id'));
    };
    await eventually(isMeasured, { what: 'the measurement' });
    return store.stored(id);
  }

  /** A process learns what was measured some seconds after a write. */
  const learns = async (write: () => Promise<{ status: number }>, status: number) =>
    eventually(async () => (await write()).status === status, { what: `the status ${status}` });

  /** Fills one mebibyte, which is the quota, with the client of another quota. */
  async function fullWorkspace() {
    const { id, client, withQuotas } = workspaceWith({ storage_mb: 1 });
    const path = await declare(client);
    const events: string[] = [];
    for (let count = 0; count * 50_000 < MEBIBYTE; count += 1) {
      const { status, body } = await addEvent(client, path, large);
      expect(status).toBe(201);
      events.push(`/api/v1/timeline/${body.event.id}`);
    }
    const bytes = await measure(id);
    expect(bytes).toBeGreaterThan(MEBIBYTE);
    expect(bytes).toBeLessThan(1.1 * MEBIBYTE);
    await learns(async () => addEvent(client, path, 'x'.repeat(4_097)), 409);
    return { id, client, withQuotas, path, events };
  }

  test('refuses large texts first, and nothing that an outage needs', async () => {
    const { client, withQuotas, path, events } = await fullWorkspace();
    expect(await addEvent(client, path, large)).toMatchObject(refused('storage_mb'));
    const longSummary = { impact_summary: 'x'.repeat(9_000) };
    const { revision } = (await client.get(path)).body.incident;
    const version = { 'If-Service-Resource-Version': String(revision) };
    expect(await client.patch(path, longSummary, version)).toMatchObject(refused('storage_mb'));
    // Small additions and edits, incidents of any size, changes of the status, and deletions. What was edited or deleted stays.
    expect((await addEvent(client, path, 'short')).status).toBe(201);
    const other = await declare(client, longSummary);
    expect((await client.post(`${other}/resolve`, { resolution_note: 'Fixed' })).status).toBe(200);
    const edited = await client.patch(
      events[0] ?? '',
      { body: 'y'.repeat(3_000) },
      { 'If-Service-Resource-Version': '1' },
    );
    expect(edited.status).toBe(200);
    expect((await client.delete(events[0] ?? '')).status).toBe(204);
    // Beyond the reserve.
    const beyond = withQuotas({ storage_mb: 0 });
    expect(await addEvent(beyond, path, 'short')).toMatchObject(refused('storage_mb'));
    expect(await beyond.post(INCIDENTS, { title: 'x', ...longSummary })).toMatchObject(refused('storage_mb'));
    const last = await declare(beyond);
    expect((await beyond.post(`${last}/resolve`, { resolution_note: 'Fixed' })).status).toBe(200);
    expect((await beyond.post(`${last}/archive`)).status).toBe(200);
    receiver.respond = () => jsonDocument({ at: AT, body: 'x'.repeat(9_000) });
    expect((await declareFrom(beyond, receiver.url('/notes'))).body.source_timeline_import).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('(quota storage_mb)'),
    });
    // An administrator raises the quota.
    expect((await addEvent(withQuotas({ storage_mb: 2 }), path, large)).status).toBe(201);
    expect((await addEvent(withQuotas({ storage_mb: null }), path, large)).status).toBe(201);
  });

  test('judges each item of a bulk by itself', async () => {
    const { client } = await fullWorkspace();
    const ids = await Promise.all(['a', 'b', 'c'].map(async () => Number((await declare(client)).split('/').at(-1))));
    const items = ids.map((id, index) => ({
      ...{ id, revision: 1, changes: { impact_summary: 'x'.repeat(index === 1 ? 5_000 : 3_000) } },
    }));
    const { body } = await client.post(`${INCIDENTS}/bulk`, { items });
    const { results } = body as { results: { status: number }[] };
    expect(results.map(({ status }) => status)).toEqual([200, 409, 200]);
  });

  test('counts values', async () => {
    const { id, client, withQuotas } = workspaceWith({ storage_mb: 0 });
    await service.owners.change(id, ({ fields }) => void fields.push(aField(id, { slug: 'log', field_type: 'json' })));
    const value = { values: [{ slug: 'log', value: { lines: ['x'.repeat(5_000)] } }] };
    const path = await declare(client);
    expect(await client.patch(`${path}/custom-fields`, value)).toMatchObject(refused('storage_mb'));
    const roomy = withQuotas({});
    expect((await roomy.patch(`${path}/custom-fields`, value)).status).toBe(200);
    expect((await client.delete(`${path}/custom-fields/${id}`)).status).toBe(200);
  });

  test('refuses replacements, which the changelog keeps, and accepts what only shrinks', async () => {
    const { id, client, withQuotas } = workspaceWith({ storage_mb: 0 });
    const slugs = Array.from({ length: 10 }, (_, index) => `note-${index}`);
    await service.owners.change(id, ({ fields }) => {
      fields.push(...slugs.map((slug, index) => aField(100 * id + index, { slug, field_type: 'json' })));
    });
    const roomy = withQuotas({});
    const path = await declare(roomy, { impact_summary: 'a'.repeat(4_000), regions: ['b'.repeat(60)] });
    const valuesOf = (text: string) => ({ values: slugs.map((slug) => ({ slug, value: text.repeat(4_000) })) });
    expect((await roomy.patch(`${path}/custom-fields`, valuesOf('c'))).status).toBe(200);
    const patch = async (by: Client, changes: object) => {
      const { revision } = (await by.get(path)).body.incident;
      return by.patch(path, changes, { 'If-Service-Resource-Version': String(revision) });
    };

    // As large as before, and an entry of the changelog with 80,000 bytes.
    expect(await client.patch(`${path}/custom-fields`, valuesOf('d'))).toMatchObject(refused('storage_mb'));
    const regions = Array.from({ length: 50 }, (_, index) => `${index}`.padEnd(60, 'r'));
    const replaced = { impact_summary: 'e'.repeat(4_000), regions };
    expect(await patch(client, replaced)).toMatchObject(refused('storage_mb'));
    // What is stored already, small changes, and the same text once more.
    expect((await client.patch(`${path}/custom-fields`, valuesOf('c'))).status).toBe(200);
    expect((await patch(client, { title: 'y', impact_summary: 'a'.repeat(4_000) })).status).toBe(200);
    const empty = { values: slugs.map((slug) => ({ slug, value: null })) };
    expect((await client.patch(`${path}/custom-fields`, empty)).status).toBe(200);
    expect((await patch(client, { impact_summary: '', regions: [] })).status).toBe(200);
  });

  test('counts the responses that are kept with idempotency keys, for as long as they are kept', async () => {
    const { id, client, withQuotas } = workspaceWith({ storage_mb: 1 });
    const roomy = withQuotas({});
    const path = await declare(client);
    const before = await measure(id);
    for (let count = 0; count < 12; count += 1) {
      const key = { 'Idempotency-Key': `k${count}` };
      expect((await roomy.post(`${path}/timeline`, { body: large }, key)).status).toBe(201);
    }
    // Of each, the text and the response.
    expect((await measure(id)) - before).toBeGreaterThan(12 * 100_000);
    await learns(async () => addEvent(client, path, 'x'.repeat(4_097)), 409);

    const withKeys = await measure(id);
    await database('idempotency_keys').where({ workspace_id: id }).delete();
    expect(withKeys - (await measure(id))).toBeGreaterThan(12 * 50_000);
    await learns(async () => addEvent(client, path, large), 201);
  });

  test('is measured in steps that any process takes, and in a night after the next write', async () => {
    const { id, client } = workspaceWith({ storage_mb: 1 });
    const path = await declare(client);
    expect((await addEvent(client, path, large)).status).toBe(201);
    const one = await measure(id);
    const { rows: columns } = await database.raw<{ rows: { name: string }[] }>(
      `select column_name as name from information_schema.columns where table_name = 'incidents' and table_schema = 'incident'
       and column_name not in ('id', 'number') and is_generated = 'NEVER'`,
    );
    const names = columns.map(({ name }) => name).join(', ');
    await database.raw(
      `insert into incidents (number, ${names}) select number + added, ${names} from incidents, generate_series(1, 5200) as added
       where workspace_id = ?`,
      [id],
    );
    await own(id).update({ due_at: '2020-01-01', next_number: 0, next_key: null, counted_bytes: 0 });
    // While another process takes a step, this one has nothing to do; it goes on where the other one has stopped.
    await database.transaction(async (trx) => {
      await trx('workspace_storage').where({ workspace_id: id }).forUpdate().first('workspace_id');
      expect(await store.measure()).toBeUndefined();
    });
    const steps = [];
    for (let step = await store.measure(); step !== undefined && steps.length < 9; step = await store.measure())
      steps.push(step === 'continues' ? step : step.workspaceId);
    expect(steps.slice(0, 3)).toEqual(['continues', 'continues', id]);
    expect(await store.stored(id)).toBeGreaterThan(one + 5_200 * 256);

    const dueAt = async () => (await own(id).first<{ due_at: string | null }>('due_at')).due_at;
    expect(await dueAt()).toBeNull();
    expect((await addEvent(client, path, 'short')).status).toBe(201);
    await eventually(async () => (await dueAt()) !== null, { what: 'the next measurement' });
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    expect(new Date((await dueAt()) ?? '').toISOString()).toMatch(new RegExp(`^${tomorrow}T0[0-5]:`));
  });

  test('is known to other processes; a workspace that was refused is measured again, and finds room', async () => {
    const { id, client, withQuotas } = workspaceWith({ storage_mb: 1 });
    const slugs = Array.from({ length: 24 }, (_, index) => `large-${index}`);
    await service.owners.change(id, ({ fields }) => {
      fields.push(...slugs.map((slug, index) => aField(100 * id + index, { slug, field_type: 'json' })));
    });
    const roomy = withQuotas({});
    const paths: string[] = [];
    for (let count = 0; count < 6; count += 1) {
      const path = await declare(roomy);
      const values = slugs.slice(4 * count, 4 * count + 4).map((slug) => ({ slug, value: large }));
      expect((await roomy.patch(`${path}/custom-fields`, { values })).status).toBe(200);
      paths.push(path);
    }
    const [path = ''] = paths;
    expect(await measure(id)).toBeGreaterThan(1.1 * MEBIBYTE);
    const other = await service.startProcess();
    try {
      const elsewhere = httpClient(other.url, asUser('incident', { workspace: { id, quotas: { storage_mb: 1 } } }));
      await learns(async () => addEvent(elsewhere, path, 'short'), 409);
    } finally {
      await other.stop();
    }

    const values = slugs.map((slug) => ({ slug, value: null }));
    for (const each of paths) expect((await client.patch(`${each}/custom-fields`, { values })).status).toBe(200);
    // The next measurement is ten minutes after the last one.
    await learns(async () => addEvent(client, path, 'short'), 409);
    await own(id).update({ measured_at: database.raw(`now() - interval '10 minutes'`) });
    await learns(async () => addEvent(client, path, large), 201);
    expect(await store.stored(id)).toBeLessThan(0.5 * MEBIBYTE);
  });
});
