import { expect, test } from '@jest/globals';
import type { Client } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { serviceForFile } from '../service.ts';
import { anEvent, anItem, EXPORTS, transferOf, transferWorkspace } from './transfer.ts';
import { aField } from '../snapshots.ts';

const service = await serviceForFile();

type Workspace = Awaited<ReturnType<typeof transferWorkspace>>;

/** Imports the lines of an export as they are, 50 at a time. */
async function importAll(client: Client, lines: readonly unknown[]): Promise<void> {
  const { results } = transferOf(client);
  for (let start = 0; start < lines.length; start += 50) {
    const done = await results(...lines.slice(start, start + 50));
    expect(done.filter(({ outcome }) => outcome === 'refused')).toEqual([]);
  }
}

/** A value that weighs most for its bytes. */
const nested = (levels: number): unknown => (levels === 0 ? 0 : { '': nested(levels - 1) });
const sizes = fc.record({
  /** Timeline events, their tags, and the characters of their bodies; what they have as evidence. */
  events: fc.constantFrom(0, 2, 510),
  tags: fc.constantFrom(0, 50),
  body: fc.constantFrom(10, 60_000),
  evidence: fc.boolean(),
  /** Entries of the changelog, their changes, and the bytes of a value. */
  entries: fc.constantFrom(0, 2, 505),
  changes: fc.constantFrom(1, 1_000),
  value: fc.constantFrom(10, 60, 5_000),
  /** Values of custom fields. */
  values: fc.constantFrom<'few' | 'many' | 'complex' | 'deep'>('few', 'many', 'complex', 'deep'),
});
type Sizes = typeof sizes extends fc.Arbitrary<infer Value> ? Value : never;

const FIELDS = 1_050;

/** Sends parts in requests of few bytes and values. */
async function inParts(
  { results }: Workspace,
  { name, parts, weight }: { name: string; parts: readonly object[]; weight: number },
): Promise<void> {
  const count = Math.max(1, Math.min(500, Math.floor(200_000 / weight)));
  for (let start = 0; start < parts.length; start += count) {
    expect(await results(anItem('1', { [name]: parts.slice(start, start + count) }))).toMatchObject([
      { outcome: expect.stringMatching(/ated$/) },
    ]);
  }
}

async function fill(workspace: Workspace, { events, tags, body, evidence, entries, changes, value, values }: Sizes) {
  const { client, results } = workspace;
  const [{ incident_id: id }] = await results(anItem('1'));
  const few = body > 10 ? Math.min(events, 20) : events;
  const timeline = Array.from({ length: few }, (_, index) =>
    anEvent(String(index), {
      // Controls, which take six bytes each, and something that is shown.
      body: `${'\u0001'.repeat(body)}x`,
      tags: Array.from({ length: tags }, (__, tag) => `t${tag}`),
    }),
  );
  await inParts(workspace, { name: 'timeline', parts: timeline, weight: 6 * body + 300 + 4 * tags });
  if (evidence) {
    const link = { source: 'logs', url: `https://logs.example.test/${'x'.repeat(2_000)}` };
    const links = JSON.stringify(Array.from({ length: 50 }, () => link));
    await service.knex('timeline_events').where('incident_id', id).update({ evidence_links: links });
  }
  const count = value > 100 ? Math.min(changes, 100) : changes;
  const fewer = changes > 1 || value > 100 ? Math.min(entries, 3) : entries;
  const changelog = Array.from({ length: fewer }, (_, entry) => ({
    changed_at: new Date(1_700_000_000_000 + entry).toISOString(),
    actor: { name: 'Ben' },
    changes: Array.from({ length: count }, (__, change) => ({
      field: `custom_fields.f${change}`,
      from: value === 60 ? nested(10) : 'x'.repeat(value),
      to: [],
    })),
  }));
  await inParts(workspace, { name: 'changelog', parts: changelog, weight: count * (value + 150) });
  const field = (index: number) => 10_000 * workspace.id + index;
  const set = async (...all: unknown[]) => {
    for (let start = 0; start < all.length; start += 1_000) {
      const path = `/api/v1/incidents/${id}/custom-fields`;
      const part = all
        .slice(start, start + 1_000)
        .map((each, index) => ({ field_id: field(start + index), value: each }));
      expect((await client.patch(path, { values: part })).status).toBe(200);
    }
  };
  if (values === 'few') await set(['a'], 7);
  if (values === 'many') await set(...Array.from({ length: FIELDS }, (_, index) => index));
  if (values === 'deep') await set(nested(97), [nested(96)]);
  if (values === 'complex') {
    // One by one: none of the requests may weigh more than 150,000.
    for (let index = 0; index < 3; index += 1) {
      const heavy = Array.from({ length: 110 }, () => nested(96));
      const change = { values: [{ field_id: field(index), value: heavy }] };
      expect((await client.patch(`/api/v1/incidents/${id}/custom-fields`, change)).status).toBe(200);
    }
  }
}

test('an incident as large as one can be is exported in lines that are imported one by one, and exported the same', async () => {
  const prepared = async () => {
    const workspace = await transferWorkspace(service);
    await service.owners.change(workspace.id, (data) => {
      data.fields = Array.from({ length: FIELDS }, (_, index) =>
        aField(10_000 * workspace.id + index, { slug: `f${index}`, field_type: 'json' }),
      );
    });
    return workspace;
  };
  const largest = { evidence: true, tags: 50, events: 510 };
  await fc.assert(
    fc.asyncProperty(sizes, async (size) => {
      const [from, to] = [await prepared(), await prepared()];
      await service.owners.change(to.id, (data) => void (data.users = []));
      await fill(from, size);
      const lines = await from.exported();
      for (const line of lines) await importAll(to.client, [line]);
      expect(await to.exported()).toEqual(lines);
      for (const workspace of [from, to]) {
        for (const line of lines) expect(await workspace.results(line)).toMatchObject([{ outcome: 'unchanged' }]);
      }
    }),
    {
      numRuns: 4,
      examples: [
        [{ ...largest, body: 10, entries: 505, changes: 1, value: 10, values: 'complex' }],
        [{ ...largest, body: 60_000, entries: 2, changes: 1_000, value: 60, values: 'many' }],
        [{ ...largest, events: 0, body: 10, entries: 2, changes: 1_000, value: 5_000, values: 'deep' }],
      ],
    },
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
