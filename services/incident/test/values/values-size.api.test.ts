import { describe, expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { freshWorkspace, type Workspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';

const service = await serviceForFile();

const KIB = 1_024;
/** A JSON value of so many bytes. */
const sized = (bytes: number) => ['x'.repeat(bytes - '[""]'.length)];
const SLUGS = ['a', 'b', 'c', 'd', 'e'];

async function workspaceOfJsonFields(): Promise<Workspace> {
  const workspace = freshWorkspace(service);
  for (const slug of SLUGS) await workspace.define({ slug, field_type: 'json' });
  return workspace;
}

const setValues = async (workspace: Workspace, path: string, values: Record<string, unknown>) =>
  workspace.client.patch(`${path}/custom-fields`, {
    values: Object.entries(values).map(([slug, value]) => ({ slug, value })),
  });

describe('the size of values', () => {
  test('is limited for each value', async () => {
    const workspace = await workspaceOfJsonFields();
    const text = await workspace.define({ slug: 'text' });
    const path = await workspace.declare({ a: sized(64 * KIB), text: 'é'.repeat(10_000) });
    const tooLarge = refusal(400, 'invalid_request', { field: 'values.0.value' });
    expect(await setValues(workspace, path, { a: sized(64 * KIB + 1) })).toMatchObject(tooLarge);
    expect(await setValues(workspace, path, { text: 'é'.repeat(10_001) })).toMatchObject(tooLarge);
    const custom_field_values = [{ field_id: text.id, value: 'x'.repeat(10_001) }];
    expect(await workspace.client.post('/api/v1/incidents', { title: 'x', custom_field_values })).toMatchObject({
      status: 400,
      body: { field: 'custom_field_values.0.value', message: 'Must be at most 10000 characters' },
    });
  });

  test('is limited for all values of an incident together, with those that it has', async () => {
    const workspace = await workspaceOfJsonFields();
    const full = { a: sized(64 * KIB), b: sized(64 * KIB), c: sized(64 * KIB), d: sized(64 * KIB) };
    const path = await workspace.declare(full);
    const { status, body } = await setValues(workspace, path, { e: 1 });
    expect({ status, field: body.field, message: body.message }).toEqual({
      status: 400,
      field: 'values',
      message: "Must be at most 262144 bytes of compact JSON, together with the incident's other values",
    });
    expect((await setValues(workspace, path, { d: null, e: 1 })).status).toBe(200);
    await expect(workspace.declare({ ...full, e: 1 })).rejects.toThrow('custom_field_values');
  });

  test('counts the defaults of a new incident', async () => {
    const workspace = freshWorkspace(service);
    for (const slug of SLUGS) await workspace.define({ slug, field_type: 'json', default_value: sized(60 * KIB) });
    expect(await workspace.client.post('/api/v1/incidents', { title: 'x' })).toMatchObject({
      status: 400,
      body: { field: 'custom_field_values' },
    });
    await expect(workspace.declare({ a: null })).resolves.toMatch(/^\/api/);
  });

  test('of values that were stored before the limit may stay, and may get smaller', async () => {
    const workspace = await workspaceOfJsonFields();
    const path = await workspace.declare({ a: 1, b: 2 });
    const stored = { a: sized(300 * KIB), b: sized(20 * KIB) };
    const { knex: database } = service;
    await database('incidents')
      .where({ workspace_id: workspace.id })
      .update({ custom_fields: JSON.stringify(stored) });
    expect((await workspace.client.get(path)).body.incident.custom_fields).toEqual(stored);
    expect((await setValues(workspace, path, { b: sized(20 * KIB) })).status).toBe(200);
    expect((await setValues(workspace, path, { b: sized(20 * KIB + 1) })).status).toBe(400);
    expect((await setValues(workspace, path, { b: sized(10 * KIB) })).status).toBe(200);
    const title = await workspace.client.patch(path, { title: 'y' }, { 'If-Service-Resource-Version': '2' });
    expect(title.status).toBe(200);
    expect((await setValues(workspace, path, { a: 'small' })).status).toBe(200);
  });
});

describe('the text of a search', () => {
  const refused = refusal(400, 'invalid_request');

  test('is limited in timelines', async () => {
    const workspace = freshWorkspace(service);
    const path = await workspace.declare();
    const search = async (text: string) => workspace.client.get(`${path}/timeline?q=${encodeURIComponent(text)}`);
    expect((await search('é'.repeat(200))).status).toBe(200);
    expect(await search('é'.repeat(201))).toMatchObject({
      ...refused,
      body: { field: 'q', message: 'Must be at most 200 characters' },
    });
  });

  test('is limited in custom filters, and so are its alternatives', async () => {
    const workspace = freshWorkspace(service);
    await workspace.define({ slug: 'zone' });
    await workspace.define({ slug: 'choice', field_type: 'select', config: { allow_custom: true } });
    const filter = async (slug: string, operator: string, value: unknown) =>
      workspace.client.get(
        `/api/v1/incidents?custom_filter=${encodeURIComponent(JSON.stringify({ slug, operator, value }))}`,
      );
    expect((await filter('zone', 'contains', 'é'.repeat(200))).status).toBe(200);
    const field = 'custom_filter.0.value';
    expect(await filter('zone', 'contains', 'é'.repeat(201))).toMatchObject({ ...refused, body: { field } });
    expect(await filter('choice', 'is', ['a', 'é'.repeat(201)])).toMatchObject({
      ...refused,
      body: { field: `${field}.1` },
    });
    const alternatives = (count: number) => Array.from({ length: count }, (_, index) => `v${index}`);
    expect((await filter('zone', 'is', alternatives(100))).status).toBe(200);
    expect(await filter('zone', 'is', alternatives(101))).toMatchObject({
      ...refused,
      body: { field, message: 'Must have at most 100 items' },
    });
    // A filter over 32,768 characters is not parsed.
    expect(await filter('zone', 'contains', 'a'.repeat(32_768))).toMatchObject({
      ...refused,
      body: { field: 'custom_filter' },
    });
  });
});
