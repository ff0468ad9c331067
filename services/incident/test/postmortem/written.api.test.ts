import { describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { WRITTEN_LIMITS } from '../../src/postmortem/domain/written.ts';
import { configure } from '../configure.ts';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';
import { aUser } from '../snapshots.ts';

const START = Date.parse('2026-11-20T10:00:00.000Z');
let minutes = 0;
const now = () => new Date(START + minutes * 60_000).toISOString();
const broker = new RecordingBroker();
const service = await serviceForFile({ broker, clock: { now } });
const version = await service.owners.change(1, (data) => void (data.users = [aUser(42, 'Ana'), aUser(43, 'Ben')]));
const as = (userId: number, more: object = {}) =>
  service.as({ user_id: userId, workspace: { id: 1, version }, ...more });
const client = as(42);
const KEY = { name: 'Writer', prefix: 'tcs_writ' };
const ben = as(43, { key: KEY });
const outsider = as(43, { permissions: [] });
const MARKDOWN = { Accept: 'text/markdown' };

const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
const refused = (status: number, code: string, field?: string) =>
  expect.objectContaining({ status, body: expect.objectContaining(field === undefined ? { code } : { code, field }) });
const declare = async (more: object = {}) => {
  const { incident } = (await client.post('/api/v1/incidents', { title: 'Checkout is down', ...more })).body;
  const path = `/api/v1/incidents/${incident.id}`;
  return { ...incident, id: incident.id as number, path, postmortem: `${path}/postmortem` };
};
const begun = async (body: object = {}, more: object = {}) => {
  const incident = await declare(more);
  const { status, body: reply } = await client.post(incident.postmortem, body);
  expect([status, reply.message]).toEqual([201, undefined]);
  return { ...incident, document: reply.document };
};
type Begun = { postmortem: string };
const section = (key: string, body = key, title = key) => ({ key, title, body });
const change = async (of: Begun, revision: number, body: object, by = client) =>
  by.patch(of.postmortem, body, at(revision));
const documentOf = async (of: Begun) => (await client.get(of.postmortem)).body.document;
const markdownOf = async (of: Begun): Promise<string> => (await client.get(of.postmortem, MARKDOWN)).text;
const revisionsOf = async (of: Begun, query = '') => (await client.get(`${of.postmortem}/revisions${query}`)).body;

describe('a written post-mortem', () => {
  test.each([
    '',
    '# {{reference}}\n\n<details>\n\n## **A** & b\n\n| x |\n| --- |\n| {{severity}} |\n\n```\n## code\n```\n\n</details>\n',
  ])('begins as the one that the template makes: %j', async (postmortem_template) => {
    await configure(service.knex, 1, { postmortem_template });
    const incident = await declare({ impact_summary: 'No order is taken' });
    expect(await documentOf(incident)).toBeNull();
    const { status, headers, body } = await client.post(incident.postmortem);
    expect([status, headers.get('Service-Resource-Version')]).toEqual([201, '1']);
    expect(body.document).toEqual({
      ...{ incident_id: incident.id, revision: 1, state: 'draft', sections: expect.any(Array) },
      ...{ created_at: now(), created_by: '42', created_by_key: null },
      ...{ updated_at: now(), updated_by: '42', updated_by_key: null },
      ...{ in_review_at: null, in_review_by: null, published_at: null, published_by: null },
    });
    const written = await markdownOf(incident);
    expect(await documentOf(incident)).toEqual(body.document);
    // As if nobody had begun; what has happened since is the same.
    await service.knex('postmortems').where({ incident_id: incident.id }).delete();
    expect(written).toBe(await markdownOf(incident));
    await configure(service.knex, 1, { postmortem_template: '' });
  });

  test('is begun once, also by a repeated request, and only then changed', async () => {
    const incident = await declare();
    expect(await change(incident, 1, { state: 'published' })).toEqual(refused(404, 'not_found'));
    const key = { 'Idempotency-Key': 'begin' };
    const first = await client.post(incident.postmortem, {}, key);
    const again = await client.post(incident.postmortem, {}, key);
    expect([again.status, again.text, again.headers.get('Idempotency-Replayed')]).toEqual([201, first.text, 'true']);
    expect(await client.post(incident.postmortem)).toEqual(refused(409, 'invalid_resource_state'));
    const races = await declare();
    const answers = await Promise.all([1, 2, 3].map(async () => client.post(races.postmortem)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
  });

  test('shows sections as notes, and has live parts that stay true', async () => {
    const sections = [
      section('a', 'About {{title}}\n{{follow_ups}}\n# Why\n`{{title}}` {{unknown}} <b>x</b>', 'What {{status}} *is*'),
      section('b', '# Top\n\n{{activity}} in a line', ''),
    ];
    const incident = await begun({ sections }, { title: 'A *bold* one' });
    expect(await markdownOf(incident)).toBe(`## What Open \\*is\\*

About A \\*bold\\* one

None.

### Why

\`{{title}}\` {{unknown}} &lt;b&gt;x&lt;/b&gt;

# Top

{{activity}} in a line
`);
    const { body } = await client.post(`${incident.path}/follow-ups`, { title: 'Alert on the pool' });
    expect(await markdownOf(incident)).toContain('\n\n- Alert on the pool (open)\n\n### Why');
    await client.patch(`/api/v1/follow-ups/${body.follow_up.id}`, { status: 'done' }, at(1));
    await client.patch(incident.path, { title: 'Another' }, at(1));
    const markdown = await markdownOf(incident);
    expect(markdown).toContain('About Another\n\n- Alert on the pool (done)\n\n### Why');
    expect((await documentOf(incident)).sections).toEqual(sections);
  });

  test('is a page of its own, too', async () => {
    const incident = await begun(
      { sections: [section('a', '**bold** <script>alert(1)</script>')] },
      { title: '<b>x</b>' },
    );
    const { status, headers, text } = await client.get(incident.postmortem, { Accept: 'text/html' });
    expect([status, headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('Content-Security-Policy')).toMatch(/^default-src 'none'; style-src 'unsafe-inline';/);
    expect(text).toContain(`<title>${incident.human_id}: &lt;b&gt;x&lt;/b&gt;</title>`);
    expect(text).toContain('<h2>a</h2>\n<p><strong>bold</strong> &lt;script&gt;alert(1)&lt;/script&gt;</p>');
  });

  test('loses nothing of writers at the same time who try again', async () => {
    const incident = await begun({ sections: ['a', 'b', 'c'].map((key) => section(key, '')) });
    const writers = ['a', 'b', 'c'].map((key) => ({ key, body: `by ${key}` }));
    const write = async ({ key, body }: { key: string; body: string }): Promise<number[]> => {
      const { revision, sections } = await documentOf(incident);
      const merged = sections.map((each: { key: string }) => (each.key === key ? { ...each, body } : each));
      const { status } = await change(incident, revision, { sections: merged });
      return status === 200 ? [200] : [status, ...(await write({ key, body }))];
    };
    const first = await Promise.all(
      writers.map(async (each) => change(incident, 1, { sections: [section(each.key)] })),
    );
    expect(first.map(({ status }) => status).toSorted()).toEqual([200, 412, 412]);
    await change(incident, 2, { sections: ['a', 'b', 'c'].map((key) => section(key, '')) });
    const statuses = (await Promise.all(writers.map(write))).flat();
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(statuses.filter((status) => status !== 200 && status !== 412)).toEqual([]);
    const { revision, sections } = await documentOf(incident);
    expect([revision, sections.map(({ body }: { body: string }) => body)]).toEqual([6, ['by a', 'by b', 'by c']]);
  });

  test('has a revision of its own: that of the incident stays, and nobody changes what he has not read', async () => {
    const incident = await begun({ sections: [section('a')] });
    expect(await client.patch(incident.postmortem, { state: 'published' })).toEqual(
      refused(428, 'precondition_required'),
    );
    expect(await change(incident, 2, { state: 'published' })).toEqual(refused(412, 'precondition_failed'));
    const same = await change(incident, 1, { state: 'draft', sections: [section('a')] });
    expect([same.status, same.body.document.revision]).toEqual([200, 1]);
    expect((await change(incident, 1, { sections: [] })).body.document).toMatchObject({ revision: 2, sections: [] });
    expect((await client.get(incident.path)).body.incident.revision).toBe(1);
  });

  test('is not changed while the incident is archived', async () => {
    const incident = await begun();
    await change(incident, 1, { sections: [] });
    const other = await declare();
    for (const { path } of [incident, other]) await client.post(`${path}/archive`);
    const archived = refused(409, 'invalid_resource_state');
    expect(await change(incident, 2, { sections: [section('a')] })).toEqual(archived);
    expect(await client.post(other.postmortem)).toEqual(archived);
    expect((await documentOf(incident)).revision).toBe(2);
  });
});

describe('its state', () => {
  test('has who and when, in the incident, the changelog and the feed', async () => {
    const incident = await begun({ sections: [] });
    minutes = 5;
    const { document: reviewed } = (await change(incident, 1, { state: 'in_review' }, ben)).body;
    expect(reviewed).toMatchObject({
      ...{ revision: 2, state: 'in_review', in_review_at: now(), in_review_by: '43', published_at: null },
      ...{ updated_by: '43', updated_by_key: KEY, created_by: '42' },
    });
    minutes = 10;
    const { document: published } = (await change(incident, 2, { state: 'published' })).body;
    expect(published).toMatchObject({
      ...{ state: 'published', published_at: now(), published_by: '42', in_review_at: reviewed.in_review_at },
    });
    minutes = 15;
    const { document: edited } = (await change(incident, 3, { sections: [section('a')] }, ben)).body;
    expect(edited).toMatchObject({ revision: 4, state: 'published', published_at: published.published_at });
    expect((await client.get(incident.path)).body.incident.postmortem_state).toBe('published');
    const { document: draft } = (await change(incident, 4, { state: 'draft' })).body;
    expect(draft).toMatchObject({ in_review_at: null, in_review_by: null, published_at: null, published_by: null });
    expect((await client.get(incident.path)).body.incident).toMatchObject({ postmortem_state: 'draft', revision: 1 });

    const steps = [
      [null, 'draft'],
      ['draft', 'in_review'],
      ['in_review', 'published'],
      ['published', 'draft'],
    ];
    const { changelog } = (await client.get(`${incident.path}/changelog`)).body;
    expect(changelog.map(({ changes }: { changes: unknown }) => changes).toReversed()).toEqual(
      steps.map(([from, to]) => [{ field: 'postmortem_state', from, to }]),
    );
    const ofIncident = () =>
      broker.published.filter(
        ({ type, data }) => type === 'incident.postmortem_changed' && data.incident.id === incident.id,
      );
    const events = await eventually(() => ofIncident().length === 4 && ofIncident());
    expect(events.map(({ data }) => data.postmortem)).toEqual(
      [1, 2, 3, 5].map((revision, index) => {
        const [previous_state, state] = steps[index] ?? [];
        return { revision, state, previous_state };
      }),
    );
    expect(events[1]?.data).toEqual({
      incident: { id: incident.id, reference: incident.human_id },
      ...{ postmortem: expect.any(Object), actor: '43', api_key: KEY },
    });
  });

  test('is a filter of lists, with those that have none', async () => {
    const region = 'of-the-filter';
    const none = await declare({ regions: [region] });
    const ofState = new Map<string, number>([['none', none.id]]);
    for (const state of ['draft', 'in_review', 'published']) {
      const incident = await begun({}, { regions: [region] });
      await change(incident, 1, { state });
      ofState.set(state, incident.id);
    }
    await client.post(`${none.path}/resolve`);
    const idsOf = async (query: string) => {
      const { status, body } = await client.get(`/api/v1/incidents?region=${region}&${query}`);
      expect([query, status]).toEqual([query, 200]);
      return new Set(body.incidents.map(({ id }: { id: number }) => id));
    };
    for (const [state, id] of ofState)
      expect([state, await idsOf(`postmortem=${state}`)]).toEqual([state, new Set([id])]);
    const both = ['none', 'in_review'] as const;
    expect(await idsOf(both.map((state) => `postmortem=${state}`).join('&'))).toEqual(
      new Set(both.map((state) => ofState.get(state))),
    );
    expect(await idsOf('postmortem=none&status=resolved')).toEqual(new Set([none.id]));
    expect(await idsOf('postmortem=none&active_only=true')).toEqual(new Set());
    expect(await client.get('/api/v1/incidents?postmortem=other')).toEqual(
      refused(400, 'invalid_request', 'postmortem'),
    );
  });
});

describe('former revisions', () => {
  test('have what it was, by whom and when, in pages', async () => {
    minutes = 20;
    const incident = await begun({ sections: [section('a', 'one')] });
    expect(await revisionsOf(incident)).toMatchObject({ former: [], pagination: { has_more: false } });
    minutes = 21;
    await change(incident, 1, { sections: [section('a', 'two')] }, ben);
    await change(incident, 2, { state: 'published' });
    const first = await revisionsOf(incident, '?limit=1');
    expect(first.former).toEqual([
      { revision: 2, state: 'draft', updated_at: now(), updated_by: '43', updated_by_key: KEY },
    ]);
    const rest = await revisionsOf(incident, `?limit=1&cursor=${first.pagination.next_cursor}`);
    expect(rest).toMatchObject({ former: [{ revision: 1, updated_by: '42' }], pagination: { has_more: false } });
    const { body } = await client.get(`${incident.postmortem}/revisions/2`);
    expect(body.former).toEqual({ ...first.former[0], sections: [section('a', 'two')] });
    expect(await client.get(`${incident.postmortem}/revisions/3`)).toEqual(refused(404, 'not_found'));
  });

  test('are kept up to a number, of which the latest stay', async () => {
    const incident = await begun({ sections: [] });
    await service.knex.raw(
      `insert into former_postmortems (workspace_id, incident_id, revision, state, sections, updated_at, updated_by)
       select workspace_id, incident_id, place, state, sections, updated_at, updated_by from postmortems
       cross join generate_series(1, ?) as place where incident_id = ?`,
      [WRITTEN_LIMITS.former, incident.id],
    );
    await service
      .knex('postmortems')
      .where({ incident_id: incident.id })
      .update({ revision: WRITTEN_LIMITS.former + 1 });
    await change(incident, WRITTEN_LIMITS.former + 1, { sections: [section('a')] });
    const rows = await service.knex('former_postmortems').where({ incident_id: incident.id }).orderBy('revision');
    expect([rows.length, rows[0].revision, rows.at(-1).revision]).toEqual([200, 2, 201]);
  });
});

describe('refused', () => {
  const { sections: most, title, key, bodyBytes, bytes } = WRITTEN_LIMITS;
  const many = (count: number, body = '') =>
    Array.from({ length: count }, (_, index) => section(`k${index}`, body, ''));

  test('are sections beyond the limits, which are named', async () => {
    const incident = await begun({ sections: [] });
    const faults: [object[], string][] = [
      [many(most + 1), 'sections'],
      [[section('a'), section('a')], 'sections'],
      [[section('')], 'sections.0.key'],
      [[section('k'.repeat(key + 1), '')], 'sections.0.key'],
      [[section('a', '', 't'.repeat(title + 1))], 'sections.0.title'],
      [[section('a', '', 'two\nlines')], 'sections.0.title'],
      [[section('a', 'é'.repeat(bodyBytes / 2 + 1))], 'sections.0.body'],
      [many(9, 'x'.repeat(bodyBytes)), 'sections'],
      [[section('a', '{{activity}}\n'.repeat(4))], 'sections'],
      [[{ ...section('a'), more: 1 }], 'sections.0.more'],
    ];
    for (const [sections, field] of faults)
      expect(await change(incident, 1, { sections })).toEqual(
        refused(400, field.endsWith('more') ? 'unknown_field' : 'invalid_request', field),
      );
    expect(await change(incident, 1, { state: 'other' })).toEqual(refused(400, 'invalid_request', 'state'));
    const largest = many(8, 'x'.repeat(bodyBytes - 1_000));
    expect(JSON.stringify(largest).length).toBeLessThan(bytes);
    expect((await change(incident, 1, { sections: largest })).body.document.sections).toEqual(largest);
    const fifty = [...many(most - 1), section('k'.repeat(key), '\u0001"\\\u2028 {{x}} é😀', 't'.repeat(title))];
    expect((await change(incident, 2, { sections: fifty })).body.document.sections).toEqual(fifty);
  });

  test('are all who may not read or write', async () => {
    const hidden = await begun({}, { restricted: true });
    await change(hidden, 1, { state: 'published' });
    const elsewhere = service.as({ workspace: { id: 2, slug: 'other' } });
    const missing = refused(404, 'not_found');
    for (const stranger of [outsider, elsewhere]) {
      for (const path of ['', '/revisions', '/revisions/1'])
        expect([path, await stranger.get(hidden.postmortem + path)]).toEqual([path, missing]);
      expect(await stranger.post(hidden.postmortem)).toEqual(missing);
      expect(await change(hidden, 2, { state: 'draft' }, stranger)).toEqual(missing);
    }
    const { incidents } = (await outsider.get('/api/v1/incidents?postmortem=published&limit=100')).body;
    expect(incidents.some(({ id }: { id: number }) => id === hidden.id)).toBe(false);
    const reader = as(42, { scopes: ['incidents:read', 'restricted:read'] });
    expect(await change(hidden, 2, { state: 'draft' }, reader)).toEqual(refused(403, 'missing_scope'));
    expect((await reader.get(hidden.postmortem)).status).toBe(200);
  });
});
