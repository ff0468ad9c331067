import { afterEach, describe, expect, test } from '@jest/globals';
import { type Client, eventually, refusal, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { sweepKeyStorage } from '../../src/storage/store/storage-store.ts';
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
  const large = 'x'.repeat(50_000);
  const addEvent = async (client: Client, path: string, body: string) => client.post(`${path}/timeline`, { body });

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
    // Small changes, and the same text once more.
    expect((await patch(client, { title: 'y', impact_summary: 'a'.repeat(4_000) })).status).toBe(200);
    const empty = { values: slugs.map((slug) => ({ slug, value: null })) };
    expect((await client.patch(`${path}/custom-fields`, empty)).status).toBe(200);
    expect((await patch(client, { impact_summary: '', regions: [] })).status).toBe(200);
  });

  test('counts the responses that are kept with idempotency keys, for as long as they are kept', async () => {
    const { id, client, withQuotas } = workspaceWith({ storage_mb: 1 });
    const roomy = withQuotas({});
    const path = await declare(client);
    for (let count = 0; count * 50_000 < MEBIBYTE; count += 1) {
      const key = { 'Idempotency-Key': `k${count}` };
      const { status, body } = await roomy.post(`${path}/timeline`, { body: large }, key);
      expect(status).toBe(201);
      expect((await roomy.delete(`/api/v1/timeline/${body.event.id}`)).status).toBe(204);
    }
    const isAccepted = async () => (await addEvent(client, path, large)).status === 201;
    const { knex: database } = service;
    const own = (table: string) => database(table).where({ workspace_id: id });
    await own('workspace_storage').update({ due_at: database.fn.now(), next_number: 0, counted_bytes: 0 });
    const measured = async () =>
      own('workspace_storage').whereNull('due_at').first<object | undefined>('written_bytes');
    await eventually(measured, { what: 'a measurement after the deletions' });
    expect(await isAccepted()).toBe(false);

    await own('key_storage').update({ hour: database.raw(`hour - interval '26 hours'`) });
    expect(await sweepKeyStorage(database, 24)).toBe(false);
    await eventually(isAccepted, { what: 'room after the keys have expired' });
  });

  test('is known to other processes, and finds room again after deletions', async () => {
    const { id, client, path, events } = await fullWorkspace();
    const { knex: database } = service;
    const stored = async () =>
      database('workspace_storage')
        .where({ workspace_id: id })
        .first<{ measured_bytes: number; written_bytes: number; measured_at: string | null } | undefined>(
          'measured_bytes',
          'written_bytes',
          'measured_at',
        );
    await eventually(async () => ((await stored())?.written_bytes ?? 0) > MEBIBYTE, {
      what: 'the count',
    });
    for (const event of events) expect((await client.delete(event)).status).toBe(204);
    const isAccepted = async () => (await addEvent(client, path, large)).status === 201;
    expect(await isAccepted()).toBe(false);
    await eventually(isAccepted, { what: 'a measurement' });
    const { measured_bytes: measured = 0 } = (await stored()) ?? {};
    expect(measured).toBeGreaterThan(0);
    expect(measured).toBeLessThan(200_000);
  });
});
