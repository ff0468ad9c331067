import { expect, test } from '@jest/globals';
import type { Client } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { serviceForFile } from './service.ts';
import { anEvent, anItem, EXPORTS, transferOf, transferWorkspace } from './transfer.ts';
import { aField, aTeam } from './snapshots.ts';

const service = await serviceForFile();

type Workspace = Awaited<ReturnType<typeof transferWorkspace>>;

/** A workspace with the same teams and fields as others that are made so, under other IDs. */
async function workspaceWithFields(): Promise<Workspace> {
  const workspace = await transferWorkspace(service);
  await service.owners.change(workspace.id, (data) => {
    data.teams = [aTeam(workspace.id, { slug: 'payments' })];
    data.fields = (['string', 'number', 'json'] as const).map((field_type, index) =>
      aField(10 * workspace.id + index, { slug: field_type, field_type, sort_order: 1 }),
    );
  });
  return workspace;
}

const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .map((value) => `x${value.replaceAll('\0', '')}`);
const moment = fc
  .date({ min: new Date('2020-01-01T00:00:00Z'), max: new Date('2026-01-01T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });

/** What somebody does with an incident through the API. */
const incidents = fc.record({
  body: fc.record({
    title: text,
    service: maybe(text),
    regions: maybe(fc.array(text, { maxLength: 3 })),
    severity: maybe(fc.constantFrom('sev1', 'sev4')),
    status: maybe(fc.constantFrom('active', 'resolved')),
    impact_summary: maybe(text),
    impact_started_at: maybe(moment),
    recovered_at: maybe(moment),
    doc_url: maybe(fc.constant('https://doc.acme.example/1')),
    external_id: maybe(fc.uuid()),
    hasTeam: fc.boolean(),
    hasManager: fc.boolean(),
  }),
  values: fc.record({
    string: maybe(text),
    number: maybe(fc.integer()),
    json: maybe(fc.array(fc.oneof(text, fc.integer()), { maxLength: 3 })),
  }),
  events: fc.array(
    fc.record({
      body: text,
      title: maybe(text),
      started_at: moment,
      tags: maybe(fc.array(text, { maxLength: 3 })),
      is_key: maybe(fc.boolean()),
      is_ongoing: maybe(fc.boolean()),
    }),
    { maxLength: 3 },
  ),
  then: fc.array(fc.constantFrom('rename', 'resolve', 'reopen', 'close', 'archive'), { maxLength: 3 }),
});
type Done = typeof incidents extends fc.Arbitrary<infer Value> ? Value : never;

async function doThis({ client, id }: Workspace, { body, values, events, then }: Done): Promise<void> {
  const { hasTeam, hasManager, ...properties } = body;
  const custom_field_values = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([slug, value]) => ({ field_id: 10 * id + ['string', 'number', 'json'].indexOf(slug), value }));
  const references = { ...(hasTeam && { team_id: id }), ...(hasManager && { incident_manager: '43' }) };
  const created = await client.post('/api/v1/incidents', { ...properties, ...references, custom_field_values });
  expect([created.status, created.text]).toEqual([201, expect.any(String)]);
  const path = `/api/v1/incidents/${created.body.incident.id}`;
  for (const event of events) expect((await client.post(`${path}/timeline`, event)).status).toBe(201);
  for (const action of then) {
    const { revision } = (await client.get(path)).body.incident;
    const at = { 'If-Service-Resource-Version': String(revision) };
    if (action === 'rename') await client.patch(path, { title: 'Renamed', severity: 'sev2' }, at);
    else await client.post(`${path}/${action}`, action === 'resolve' ? { resolution_note: 'Done' } : {});
  }
}

/** Imports the lines of an export as they are, 50 at a time. */
async function importAll(client: Client, lines: readonly unknown[]): Promise<void> {
  const { results } = transferOf(client);
  for (let start = 0; start < lines.length; start += 50) {
    const done = await results(...lines.slice(start, start + 50));
    expect(done.filter(({ outcome }) => outcome === 'refused')).toEqual([]);
  }
}

test('an export that is imported into an empty workspace is exported the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(incidents, { minLength: 1, maxLength: 4 }), async (all) => {
      const [from, to] = [await workspaceWithFields(), await workspaceWithFields()];
      await service.owners.change(to.id, (data) => void (data.users = []));
      for (const each of all) await doThis(from, each);
      const lines = await from.exported();
      expect(lines).toHaveLength(all.length);
      await importAll(to.client, lines);
      expect(await to.exported()).toEqual(lines);
      // Once more: nothing is new.
      expect((await to.results(...lines)).every(({ outcome }) => outcome === 'unchanged')).toBe(true);
    }),
    { numRuns: 25 },
  );
});

test('has the workspace in front, and a position after each 25 incidents, behind which it goes on', async () => {
  const { slug, client, results, lines } = await transferWorkspace(service);
  for (const start of [0, 30])
    await results(...Array.from({ length: 30 }, (_, index) => anItem(String(start + index))));
  const all = await lines();
  expect(all[0]).toMatchObject({
    kind: 'workspace',
    slug,
    configuration: { severities: expect.any(Array), service_tiers: expect.any(Array) },
  });
  const kinds = all.slice(1).map(({ kind }) => kind);
  const incidents = (count: number): string[] => Array<string>(count).fill('incident');
  expect(kinds).toEqual([...incidents(25), 'position', ...incidents(25), 'position', ...incidents(10), 'end']);
  const { cursor } = all[26] as { cursor: string };
  expect(await lines(`?cursor=${cursor}`)).toEqual(all.slice(27));
  expect(await client.get(`${EXPORTS}?cursor=${cursor}x`)).toMatchObject({ status: 400, body: { field: 'cursor' } });
  const other = await transferWorkspace(service);
  expect(await other.client.get(`${EXPORTS}?cursor=${cursor}`)).toMatchObject({
    status: 400,
    body: { field: 'cursor' },
  });
});

test('divides a large incident into lines that an import takes one after the other', async () => {
  const [from, to] = [await transferWorkspace(service), await transferWorkspace(service)];
  await service.owners.change(to.id, (data) => void (data.users = []));
  const large = 'ä'.repeat(60_000);
  const parts = [
    ...Array.from({ length: 12 }, (_, index) => anEvent(`l${index}`, { body: `${index} ${large}` })),
    ...Array.from({ length: 620 }, (_, index) => anEvent(`s${index}`, { started_at: '2024-03-03T00:00:00Z' })),
  ];
  for (let start = 0; start < parts.length; start += start < 12 ? 6 : 300) {
    const timeline = parts.slice(start, start + (start < 12 ? 6 : 300));
    expect(await from.results(anItem('1', { timeline }))).toMatchObject([{ outcome: expect.stringMatching(/ed$/) }]);
  }
  const lines = await from.exported();
  expect(lines.length).toBeGreaterThan(2);
  const timelines = lines.map(({ timeline }) => timeline as { external_id: string }[]);
  expect(timelines.flat().map(({ external_id }) => external_id)).toEqual(parts.map(({ external_id }) => external_id));
  for (const line of lines) {
    expect((line['timeline'] as unknown[]).length).toBeLessThanOrEqual(500);
    expect(Buffer.byteLength(JSON.stringify(line))).toBeLessThan(1_000_000);
  }
  for (const line of lines) await importAll(to.client, [line]);
  expect(await to.exported()).toEqual(lines);
});

test('has no email addresses for a key that may not read users', async () => {
  const { id, slug, client } = await transferWorkspace(service);
  await client.post('/api/v1/incidents', { title: 'x' });
  const authors = async (scopes: string[], permissions?: string[]) => {
    const { status, text } = await service
      .as({ workspace: { id, slug }, scopes, ...(permissions && { permissions }) })
      .get(EXPORTS);
    return status === 200 ? (JSON.parse(text.split('\n').at(-3) ?? '') as { author: unknown }).author : status;
  };
  expect(await authors(['incidents:read'])).toEqual({ name: 'Ana' });
  expect(await authors(['incidents:read', 'users:read'])).toEqual({ name: 'Ana', email: 'ana@acme.example' });
  expect(await authors(['imports:write'])).toBe(403);
  expect(await authors(['incidents:read'], [])).toBe(403);
});
