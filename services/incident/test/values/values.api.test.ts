import { describe, expect, test } from '@jest/globals';
import { eventually, refusal } from '@tocsin/testing';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { freshWorkspace, type Workspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';

const broker = new RecordingBroker();
const service = await serviceForFile({ broker });

const ARCHIVED = { archived_at: '2026-11-20T10:00:00.000Z' };

async function valuesOf({ client }: Workspace, path: string): Promise<Record<string, unknown>> {
  const { body: list } = await client.get(`${path}/custom-fields`);
  const bySlug = Object.fromEntries(
    list.values.map(({ slug, value }: { slug: string; value: unknown }) => [slug, value]),
  );
  // The resource and the list of values must agree.
  expect((await client.get(path)).body.incident.custom_fields).toEqual(bySlug);
  return bySlug;
}

describe('reading values', () => {
  test('uses the display order of the fields and requires the incident', async () => {
    const workspace = freshWorkspace(service);
    await workspace.define({ slug: 'last', sort_order: 9 });
    await workspace.define({ slug: 'first', sort_order: -1 });
    await workspace.define({ slug: 'second', sort_order: 9, created_at: '2020-01-01T00:00:00.000Z' });
    const path = await workspace.declare({ last: 'c', first: 'a', second: 'b' });
    expect(Object.keys(await valuesOf(workspace, path))).toEqual(['first', 'second', 'last']);
    expect(await freshWorkspace(service).client.get(`${path}/custom-fields`)).toMatchObject(refusal(404, 'not_found'));
    expect((await workspace.client.get('/api/v1/incidents/0/custom-fields')).body.field).toBe('id');
  });

  test('shows the current name of a field, also of an archived one', async () => {
    const workspace = freshWorkspace(service);
    const field = await workspace.define({ slug: 'zone', name: 'Zone' });
    const path = await workspace.declare({ zone: 'eu' });
    await workspace.redefine(field.id, { name: 'Region', ...ARCHIVED });
    const { body } = await workspace.client.get(`${path}/custom-fields`);
    expect(body.values).toMatchObject([{ slug: 'zone', name: 'Region', value: 'eu' }]);
  });
});

describe('writing values', () => {
  test('sets, replaces and unsets by ID or slug, keeps the others and returns the list', async () => {
    const workspace = freshWorkspace(service);
    const zone = await workspace.define({ slug: 'zone' });
    const cost = await workspace.define({ slug: 'cost', field_type: 'monetary' });
    await workspace.define({ slug: 'note', field_type: 'json' });
    await workspace.define({ slug: 'other' });
    const path = await workspace.declare({ zone: 'eu', note: { a: 1 }, other: 'stays' });
    const declared = await workspace.client.get(`${path}/custom-fields`);
    const answer = await workspace.as(43).patch(`${path}/custom-fields`, {
      values: [
        { field_id: zone.id, value: 'us' },
        { field_id: cost.id, value: { amount: 1.5, currency: 'EUR' } },
        { slug: 'note', value: null },
      ],
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual((await workspace.client.get(`${path}/custom-fields`)).body);
    expect(answer.body.values).toMatchObject([
      { slug: 'zone', value: 'us', updated_by: '43' },
      { slug: 'cost', value: { amount: 1.5, currency: 'EUR' }, updated_by: '43' },
      { slug: 'other', value: 'stays', updated_by: '42', updated_at: declared.body.values[2].updated_at },
    ]);
    expect(Object.keys(await valuesOf(workspace, path))).toEqual(['zone', 'cost', 'other']);
  });

  test('raises the revision once with a changelog entry and an event', async () => {
    const workspace = freshWorkspace(service);
    // An inherited property of every object.
    await workspace.define({ slug: 'constructor' });
    await workspace.define({ slug: 'zone' });
    const path = await workspace.declare({ zone: 'eu' });
    const values = [
      { slug: 'zone', value: 'us' },
      { slug: 'constructor', value: 'acme' },
    ];
    await workspace.as(43).patch(`${path}/custom-fields`, { values });
    const changes = [
      { field: 'custom_fields.constructor', from: null, to: 'acme' },
      { field: 'custom_fields.zone', from: 'eu', to: 'us' },
    ];
    const { body } = await workspace.client.get(path);
    expect(body.incident.revision).toBe(2);
    const { changelog } = (await workspace.client.get(`${path}/changelog`)).body;
    expect(changelog).toMatchObject([{ revision: 2, actor: '43', changes }]);
    const event = await eventually(() =>
      broker.published.find(({ type, workspace: { id } }) => type === 'incident.updated' && id === workspace.id),
    );
    expect(event.data).toMatchObject({ incident: { revision: 2 }, changes });
  });

  test('is atomic and names the invalid field', async () => {
    const workspace = freshWorkspace(service);
    const zone = await workspace.define({ slug: 'zone', required: true });
    await workspace.define({ slug: 'count', field_type: 'number', config: { max: 5 } });
    const path = await workspace.declare({ zone: 'eu' });
    const good = { slug: 'zone', value: 'us' };
    const cases: [unknown[], string, string][] = [
      [[], 'invalid_request', 'values'],
      [[good, { slug: 'count', value: 6 }], 'invalid_request', 'values.1.value'],
      [[good, { slug: 'count', value: '5' }], 'invalid_request', 'values.1.value'],
      [[good, { slug: 'nowhere', value: 1 }], 'invalid_request', 'values.1.slug'],
      [[good, { field_id: 999_999, value: 1 }], 'invalid_request', 'values.1.field_id'],
      [[good, { field_id: zone.id, value: 'us' }], 'invalid_request', 'values.1.field_id'],
      [[{ slug: 'count', value: 1 }, good, good], 'invalid_request', 'values.2.slug'],
      [[{ field_id: zone.id, slug: 'zone', value: 'us' }], 'invalid_request', 'values.0.slug'],
      [[good, { value: 'us' }], 'invalid_request', 'values.1.field_id'],
      [[{ slug: 'zone' }], 'invalid_request', 'values.0.value'],
      [[{ slug: 'zone', value: null }], 'invalid_request', 'values.0.value'],
      [[{ ...good, unit: 'x' }], 'unknown_field', 'values.0.unit'],
      [[{ field_id: null, value: 1 }], 'invalid_request', 'values.0.field_id'],
    ];
    for (const [values, code, field] of cases) {
      const { status, body } = await workspace.client.patch(`${path}/custom-fields`, { values });
      expect({ values, status, code: body.code, field: body.field }).toEqual({ values, status: 400, code, field });
    }
    expect(await workspace.client.patch(`${path}/custom-fields`, {})).toMatchObject({ body: { field: 'values' } });
    expect(await valuesOf(workspace, path)).toEqual({ zone: 'eu' });
    expect((await workspace.client.get(path)).body.incident.revision).toBe(1);
  });

  test('keeps what is stored after a change of the definition, and checks what is new', async () => {
    const workspace = freshWorkspace(service);
    const config = { options: ['a', 'b', 'c'] };
    const field = await workspace.define({ slug: 'zones', field_type: 'multi_select', config });
    const path = await workspace.declare({ zones: ['a', 'b'] });
    await workspace.redefine(field.id, { config: { options: ['c'] } });
    const write = async (value: unknown) =>
      workspace.client.patch(`${path}/custom-fields`, { values: [{ slug: 'zones', value }] });
    expect((await write(['a', 'b'])).body.values).toMatchObject([{ value: ['a', 'b'] }]);
    expect(await write(['a', 'x'])).toMatchObject(refusal(400, 'invalid_request', { field: 'values.0.value.1' }));
    expect((await write(['c', 'b'])).status).toBe(200);
    expect(await write(['c', 'a'])).toMatchObject(refusal(400, 'invalid_request', { field: 'values.0.value.1' }));
    expect(await valuesOf(workspace, path)).toEqual({ zones: ['c', 'b'] });
    expect((await workspace.client.get(path)).body.incident.revision).toBe(2);
  });

  test('concurrent writes are serialized', async () => {
    const workspace = freshWorkspace(service);
    const slugs = Array.from({ length: 10 }, (_, index) => `f${index}`);
    for (const slug of slugs) await workspace.define({ slug });
    const path = await workspace.declare();
    const answers = await Promise.all(
      slugs.map(async (slug) => workspace.client.patch(`${path}/custom-fields`, { values: [{ slug, value: slug }] })),
    );
    expect(answers.map(({ status }) => status)).toEqual(slugs.map(() => 200));
    expect(await valuesOf(workspace, path)).toEqual(Object.fromEntries(slugs.map((slug) => [slug, slug])));
    expect((await workspace.client.get(path)).body.incident.revision).toBe(11);
  });

  test('a new field can be set at once, and a newly archived one cannot', async () => {
    const workspace = freshWorkspace(service);
    const path = await workspace.declare();
    const field = await workspace.define({ slug: 'zone' });
    const write = async (value: unknown) =>
      workspace.client.patch(`${path}/custom-fields`, { values: [{ slug: 'zone', value }] });
    expect((await write('eu')).status).toBe(200);
    await workspace.redefine(field.id, ARCHIVED);
    const wrongState = refusal(409, 'invalid_resource_state');
    expect(await write('us')).toMatchObject(wrongState);
    expect(await write(null)).toMatchObject(wrongState);
    expect(await workspace.client.delete(`${path}/custom-fields/${field.id}`)).toMatchObject(wrongState);
    expect(await valuesOf(workspace, path)).toEqual({ zone: 'eu' });
  });
});

describe('unsetting a value', () => {
  test('returns the remaining values and can be repeated', async () => {
    const workspace = freshWorkspace(service);
    const zone = await workspace.define({ slug: 'zone' });
    await workspace.define({ slug: 'other' });
    const path = await workspace.declare({ zone: 'eu', other: 'x' });
    for (let time = 0; time < 2; time += 1) {
      const { status, body } = await workspace.client.delete(`${path}/custom-fields/${zone.id}`);
      expect(status).toBe(200);
      expect(body.values).toMatchObject([{ slug: 'other' }]);
    }
    expect(await valuesOf(workspace, path)).toEqual({ other: 'x' });
    const { body } = await workspace.client.get(`${path}/changelog`);
    expect(body.changelog).toMatchObject([{ changes: [{ field: 'custom_fields.zone', from: 'eu', to: null }] }]);
  });

  test('rejects a required field and one that does not exist', async () => {
    const workspace = freshWorkspace(service);
    const field = await workspace.define({ slug: 'zone', required: true });
    const path = await workspace.declare({ zone: 'eu' });
    const one = (id: number | string) => workspace.client.delete(`${path}/custom-fields/${id}`);
    expect(await one(field.id)).toMatchObject(refusal(400, 'invalid_request', { field: 'fieldId' }));
    expect(await one(999_999)).toMatchObject(refusal(404, 'not_found'));
    expect(await one('zone')).toMatchObject(refusal(400, 'invalid_request', { field: 'fieldId' }));
    expect(await workspace.client.delete(`/api/v1/incidents/999999/custom-fields/${field.id}`)).toMatchObject({
      status: 404,
    });
    expect(await valuesOf(workspace, path)).toEqual({ zone: 'eu' });
  });
});

test("an archived incident's values are read-only", async () => {
  const workspace = freshWorkspace(service);
  const zone = await workspace.define({ slug: 'zone' });
  const path = await workspace.declare({ zone: 'eu' });
  await workspace.client.post(`${path}/archive`);
  const wrongState = refusal(409, 'invalid_resource_state');
  const change = { values: [{ slug: 'zone', value: 'us' }] };
  expect(await workspace.client.patch(`${path}/custom-fields`, change)).toMatchObject(wrongState);
  // The incident's state is checked before the body's references.
  expect(await workspace.client.patch(`${path}/custom-fields`, { values: [{ slug: 'x', value: 1 }] })).toMatchObject(
    wrongState,
  );
  expect(await workspace.client.delete(`${path}/custom-fields/${zone.id}`)).toMatchObject(wrongState);
  expect(await valuesOf(workspace, path)).toEqual({ zone: 'eu' });
});
