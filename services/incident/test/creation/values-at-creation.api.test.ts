import { describe, expect, test } from '@jest/globals';
import { eventually, refusal } from '@tocsin/testing';
import { freshWorkspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';

const service = await serviceForFile();

const INCIDENTS = '/api/v1/incidents';
const declaring = (...custom_field_values: unknown[]) => ({ title: 'x', custom_field_values });

describe('values at creation', () => {
  test('may be longer than an index entry', async () => {
    const workspace = freshWorkspace(service);
    await workspace.define({ slug: 'text' });
    await workspace.define({ slug: 'choice', field_type: 'select', config: { allow_custom: true } });
    await workspace.define({ slug: 'choices', field_type: 'multi_select', config: { allow_custom: true } });
    // Incompressible, so that Postgres cannot shorten it.
    const long = Array.from({ length: 10_000 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)));
    const values = { text: long.join(''), choice: long.toReversed().join(''), choices: [long.join(''), 'x'] };
    const path = await workspace.declare(values);
    expect((await workspace.client.get(path)).body.incident.custom_fields).toEqual(values);
  });

  test('a required field needs a value; null or a default is not enough', async () => {
    const workspace = freshWorkspace(service);
    const field = await workspace.define({ required_on_creation: true, default_value: 'default', slug: 'zone' });
    const expected = refusal(400, 'invalid_request', { field: 'custom_field_values' });
    for (const body of [{ title: 'x' }, declaring(), declaring({ field_id: field.id, value: null })]) {
      expect(await workspace.client.post(INCIDENTS, body)).toMatchObject(expected);
    }
    expect((await workspace.client.get(INCIDENTS)).body.incidents).toEqual([]);
    expect(await workspace.declare({ zone: '' })).toMatch(/incidents/);
    await workspace.redefine(field.id, { archived_at: '2026-11-20T10:00:00.000Z' });
    expect(await workspace.declare()).toMatch(/incidents/);
  });

  test('a default applies to a missing field; an explicit null leaves it empty', async () => {
    const workspace = freshWorkspace(service);
    const plain = await workspace.define({ slug: 'plain', default_value: 'default' });
    await workspace.define({ slug: 'falsy', field_type: 'boolean', default_value: false });
    await workspace.define({ slug: 'kept', required: true, default_value: 'kept' });
    await workspace.define({ slug: 'none' });
    await workspace.define({ slug: 'gone', default_value: 'x', archived_at: '2026-11-20T10:00:00.000Z' });
    const valuesOf = async (path: string) => (await workspace.client.get(path)).body.incident.custom_fields;
    expect(await valuesOf(await workspace.declare())).toEqual({ plain: 'default', falsy: false, kept: 'kept' });
    expect(await valuesOf(await workspace.declare({ plain: null, falsy: true }))).toEqual({
      falsy: true,
      kept: 'kept',
    });
    const path = await workspace.declare({ plain: 'own' });
    const { values } = (await workspace.client.get(`${path}/custom-fields`)).body;
    expect(values.map(({ slug, value }: { slug: string; value: unknown }) => [slug, value])).toEqual([
      ['plain', 'own'],
      ['falsy', false],
      ['kept', 'kept'],
    ]);
    expect(values[1].updated_by).toBe('42');
    const refused = await workspace.client.post(INCIDENTS, declaring({ field_id: plain.id + 2, value: null }));
    expect(refused).toMatchObject(refusal(400, 'invalid_request', { field: 'custom_field_values.0.value' }));
  });

  test('are rejected with the invalid field, and no incident is created', async () => {
    const workspace = freshWorkspace(service);
    const active = await workspace.define({ config: { max_length: 3 } });
    const archived = await workspace.define({ archived_at: '2026-11-20T10:00:00.000Z' });
    const money = await workspace.define({ field_type: 'monetary', config: { currency: 'EUR' } });
    const choices = await workspace.define({ field_type: 'multi_select', config: { options: ['a', 'b'] } });
    const foreign = await freshWorkspace(service).define({});
    const good = { field_id: active.id, value: 'abc' };
    const cases: [unknown[], string, string][] = [
      [[good, { field_id: 999_999, value: 'a' }], 'invalid_request', '1.field_id'],
      [[{ field_id: archived.id, value: 'a' }], 'invalid_request', '0.field_id'],
      [[{ field_id: foreign.id, value: 'a' }], 'invalid_request', '0.field_id'],
      [[good, good], 'invalid_request', '1.field_id'],
      [[good, { field_id: active.id, value: null }], 'invalid_request', '1.field_id'],
      [[{ field_id: active.id, value: 'abcd' }], 'invalid_request', '0.value'],
      [[good, { field_id: money.id, value: { amount: 1, currency: 'USD' } }], 'invalid_request', '1.value.currency'],
      [[{ field_id: money.id, value: { currency: 'EUR' } }], 'invalid_request', '0.value.amount'],
      [[{ field_id: money.id, value: { amount: 1, currency: 'EUR', x: 1 } }], 'unknown_field', '0.value.x'],
      [[{ field_id: choices.id, value: ['a', 'c'] }], 'invalid_request', '0.value.1'],
      [[{ field_id: active.id }], 'invalid_request', '0.value'],
      [[{ value: 'a' }], 'invalid_request', '0.field_id'],
      [[{ field_id: '1', value: 'a' }], 'invalid_request', '0.field_id'],
      [[{ field_id: 0, value: 'a' }], 'invalid_request', '0.field_id'],
      [[{ ...good, slug: 'x' }], 'unknown_field', '0.slug'],
      [[null], 'invalid_request', '0'],
    ];
    for (const [given, code, at] of cases) {
      const { status, body } = await workspace.client.post(INCIDENTS, declaring(...given));
      expect({ given, status, code: body.code, field: body.field }).toEqual({
        given,
        status: 400,
        code,
        field: `custom_field_values.${at}`,
      });
    }
    for (const custom_field_values of [null, {}, 'x']) {
      const answer = await workspace.client.post(INCIDENTS, { title: 'x', custom_field_values });
      expect(answer).toMatchObject({ status: 400, body: { field: 'custom_field_values' } });
    }
    expect((await workspace.client.get(INCIDENTS)).body.incidents).toEqual([]);
  });

  test('a changed definition applies at once; while the owner is down the last replicated one applies', async () => {
    const workspace = freshWorkspace(service);
    const field = await workspace.define({ slug: 'zone', field_type: 'select', config: { options: ['eu'] } });
    await workspace.declare({ zone: 'eu' });
    await workspace.redefine(field.id, { config: { options: ['us'] } });
    await expect(workspace.declare({ zone: 'eu' })).rejects.toThrow('custom_field_values.0.value');
    service.owners.down = true;
    try {
      await workspace.redefine(field.id, { config: { options: ['ap'] } });
      await workspace.declare({ zone: 'us' });
      // A stale replica may allow a value but must not refuse one.
      const refused = await workspace.client.post(INCIDENTS, {
        title: 'x',
        custom_field_values: [{ field_id: field.id, value: 'ap' }],
      });
      expect(refused).toMatchObject(refusal(503, 'service_unavailable'));
      expect(refused.headers.get('retry-after')).toBe('1');
    } finally {
      service.owners.down = false;
    }
    const retried = async () => workspace.declare({ zone: 'ap' }).catch(() => undefined);
    expect(await eventually(retried, { what: 'another call of the owner' })).toBeDefined();
  });
});
