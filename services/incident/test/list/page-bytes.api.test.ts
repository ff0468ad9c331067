/** Pages stay small whatever their rows contain, rows of earlier releases included (contract: Lists and cursors). */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { MAX_PAGE_BYTES } from '@tocsin/http';
import { eventually, type ReadList, readPages } from '@tocsin/testing';
import { toLargeValue } from '../../src/incidents/domain/large-value.ts';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { freshWorkspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';

/** Bytes of a value in the changelog of an earlier release. */
const LARGE = 3_000_000;
/** A page's properties besides its rows. */
const REST = 20_000;

const broker = new RecordingBroker();

const service = await serviceForFile({ broker });
const { knex: database } = service;
const client = service.as();

/** Every page is full, has one row that is larger, or is the last one. */
function expectBounded({ pages }: ReadList): void {
  for (const { bytes, rows } of pages) expect(rows === 1 || bytes <= MAX_PAGE_BYTES + REST).toBe(true);
  for (const [index, { bytes, rows }] of pages.slice(0, -1).entries()) {
    const next = pages[index + 1];
    expect(rows === 100 || bytes + (next?.bytes ?? 0) / (next?.rows ?? 1) > MAX_PAGE_BYTES - REST).toBe(true);
  }
}

/** The SQL of a text of so many bytes, which Postgres can compress or not. */
const SQL_TEXT = {
  compressible: (bytes: number) => `repeat('x', ${bytes})`,
  random: (bytes: number) =>
    `(select string_agg(md5(random()::text || n), '') from generate_series(1, ${bytes / 32}) as n)`,
};

async function createIncidents(count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let n = 0; n < count; n += 1) {
    ids.push((await client.post('/api/v1/incidents', { title: `${n}` })).body.incident.id);
  }
  return ids;
}

describe('incidents with values that an earlier release accepted', () => {
  const archived: number[] = [];
  let active: number[] = [];
  beforeAll(async () => {
    active = await createIncidents(24);
    // The first alone is larger than a page.
    const sizes = [MAX_PAGE_BYTES + 100_000, 100, 250_000, 1_500_000, 4_000];
    for (const [index, id] of active.entries()) {
      const text = (index % 3 === 0 ? SQL_TEXT.random : SQL_TEXT.compressible)(sizes[index % sizes.length] ?? 0);
      await database.raw(`update incidents set custom_fields = jsonb_build_object('blob', ${text}) where id = ?`, [id]);
    }
    for (const id of active.splice(12)) {
      await client.post(`/api/v1/incidents/${id}/archive`);
      archived.push(id);
    }
  });

  test.each([
    ['created_at', 'asc'],
    ['created_at', 'desc'],
    // Reads IDs first, and a segment for each severity.
    ['severity', 'asc'],
  ])('are listed once, in order, by %s %s', async (sort, direction) => {
    const list = await readPages(client, `/api/v1/incidents?sort=${sort}&direction=${direction}`, 'incidents');
    const ids = list.ids.filter((id) => active.includes(id));
    expect(ids).toEqual(direction === 'asc' ? active : active.toReversed());
    expect(new Set(list.ids).size).toBe(list.ids.length);
    expect(list.pages.length).toBeGreaterThan(4);
    expectBounded(list);
  });

  test('are shown completely', async () => {
    const { body } = await client.get('/api/v1/incidents?sort=created_at&direction=asc&limit=5');
    for (const { id, custom_fields: values } of body.incidents) {
      expect(values.blob.length).toBeGreaterThan(0);
      expect((await client.get(`/api/v1/incidents/${id}`)).body.incident.custom_fields).toEqual(values);
    }
  });

  test('are listed once when they are archived', async () => {
    const list = await readPages(client, '/api/v1/incidents/archived?direction=asc', 'incidents');
    expect(list.ids).toEqual(archived);
    expectBounded(list);
  });
});

test('events of control characters, six bytes each in JSON, are listed once and in order', async () => {
  const [incident = 0] = await createIncidents(1);
  const path = `/api/v1/incidents/${incident}/timeline`;
  const ids: number[] = [];
  for (let n = 0; n < 60; n += 1) {
    // Some are as small as most events are.
    const body = n % 4 === 0 ? 'small' : `${'\u0001'.repeat(65_535)}x`;
    ids.push((await client.post(path, { body, tags: ['t'] })).body.event.id);
  }
  for (const order of ['asc', 'desc']) {
    const list = await readPages(client, `${path}?order=${order}`, 'events');
    expect(list.ids).toEqual(order === 'asc' ? ids : ids.toReversed());
    expect(list.pages.length).toBeGreaterThan(4);
    expectBounded(list);
  }
  const { body: page } = await client.get(`${path}?limit=100`);
  expect(page.matched_count).toBe(60);
  expect(page.filter_counts.all_events).toBe(60);
  expect(page.events[1].body).toBe(`${'\u0001'.repeat(65_535)}x`);
});

describe('the changelog', () => {
  test('has large values as their digests, and so have the events', async () => {
    const workspace = freshWorkspace(service);
    await workspace.define({ slug: 'blob', field_type: 'json' });
    const path = await workspace.declare({ blob: { size: 'small' } });
    const large = { b: 'x'.repeat(30_000), a: ['\u0001'] };
    const values = [{ slug: 'blob', value: large }];
    expect((await workspace.client.patch(`${path}/custom-fields`, { values })).status).toBe(200);
    expect((await workspace.client.delete(`${path}/custom-fields/${(await fieldOf(path)).field_id}`)).status).toBe(200);
    async function fieldOf(incident: string) {
      const { body } = await workspace.client.get(`${incident}/custom-fields`);
      expect(body.values[0].value).toEqual(large);
      return body.values[0];
    }
    const summary = 'ä'.repeat(9_000);
    await workspace.client.patch(path, { impact_summary: summary }, { 'If-Service-Resource-Version': '3' });

    const field = 'custom_fields.blob';
    const digest = toLargeValue(large);
    expect(digest.bytes).toBe(JSON.stringify(large).length);
    const expected = [
      [{ field: 'impact_summary', from: '', to: toLargeValue(summary) }],
      [{ field, from: digest, to: null }],
      [{ field, from: { size: 'small' }, to: digest }],
    ];
    const { body } = await workspace.client.get(`${path}/changelog`);
    expect(body.changelog.map(({ changes }: { changes: unknown }) => changes)).toEqual(expected);
    const published = await eventually(
      () => {
        const events = broker.published.filter(
          ({ type, workspace: { id } }) => type === 'incident.updated' && id === workspace.id,
        );
        return events.length === 3 ? events : undefined;
      },
      { what: 'the events' },
    );
    expect(published.map(({ data }) => data.changes).toReversed()).toEqual(expected);
    // The webhook service sends the summary.
    expect(published.at(-1)?.data.incident.impact_summary).toBe(summary);
    expect(published[0]?.data.incident.custom_fields).toEqual({ blob: digest });
  });

  test('shows entries of an earlier release in the same way, a few on each page', async () => {
    const [incident = 0] = await createIncidents(1);
    const path = `/api/v1/incidents/${incident}/changelog`;
    await database.raw(
      `insert into changelog (workspace_id, incident_id, revision, actor, changed_at, changes)
      select workspace_id, id, n, '42', now(), jsonb_build_array(jsonb_build_object(
        'field', 'custom_fields.blob', 'from', repeat('x', ?), 'to', repeat('y', case when n % 3 = 0 then 3 else ? end)))
      from incidents, generate_series(2, 19) as n where id = ?`,
      [LARGE, LARGE, incident],
    );
    const list = await readPages(client, path, 'changelog');
    expect(list.ids).toHaveLength(18);
    expect(list.ids).toEqual(list.ids.toSorted((a, b) => b - a));
    expect(list.pages.length).toBeGreaterThan(4);
    for (const { bytes } of list.pages) expect(bytes).toBeLessThan(REST);
    const { body } = await client.get(`${path}?limit=2`);
    const from = toLargeValue('x'.repeat(LARGE));
    expect(body.changelog.map(({ changes }: { changes: unknown[] }) => changes[0])).toEqual([
      { field: 'custom_fields.blob', from, to: toLargeValue('y'.repeat(LARGE)) },
      { field: 'custom_fields.blob', from, to: 'yyy' },
    ]);
  });
});
