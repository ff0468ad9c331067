import { describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';
import { aUser } from '../snapshots.ts';

const broker = new RecordingBroker();
const service = await serviceForFile({ broker });
const version = await service.owners.change(1, (data) => void (data.users = [aUser(42), aUser(43)]));
const client = service.as({ workspace: { id: 1, version } });
const OTHER = { workspace: { id: 2, slug: 'other' } };

const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
const declare = async (as = client): Promise<{ id: number; human_id: string; path: string }> => {
  const { incident } = (await as.post('/api/v1/incidents', { title: 'Checkout is down' })).body;
  return { ...incident, path: `/api/v1/incidents/${incident.id}` };
};
const add = async (incident: { path: string }, body: object = {}, headers = {}) =>
  client.post(`${incident.path}/follow-ups`, { title: 'Alert on the pool', ...body }, headers);
const added = async (incident: { path: string }, body: object = {}) => {
  const { follow_up: followUp } = (await add(incident, body)).body;
  return { ...followUp, path: `/api/v1/follow-ups/${followUp.id}` };
};
const refused = (status: number, code: string, field?: string) =>
  expect.objectContaining({ status, body: expect.objectContaining(field === undefined ? { code } : { code, field }) });
const list = async (query: string) => {
  const ids: number[] = [];
  for (let cursor = ''; ;) {
    const { status, body } = await client.get(`/api/v1/follow-ups?${query}${cursor}`);
    expect([query, status]).toEqual([query, 200]);
    ids.push(...body.follow_ups.map(({ id }: { id: number }) => id));
    if (!body.pagination.has_more) return ids;
    cursor = `&cursor=${body.pagination.next_cursor}`;
  }
};
const publishedOf = (id: number) => broker.published.filter(({ data }) => data.follow_up?.id === id);

describe('a follow-up', () => {
  test('has defaults, and shows what was given', async () => {
    const incident = await declare();
    const { status, body, headers } = await add(incident, { title: ' Alert ' });
    expect([status, headers.get('Service-Resource-Version')]).toEqual([201, '1']);
    expect(body.follow_up).toEqual({
      ...{ id: expect.any(Number), revision: 1, incident_id: incident.id, title: 'Alert', description: '' },
      ...{
        owner: '',
        due_on: null,
        status: 'open',
        external_url: '',
        created_by: '42',
        created_by_key: null,
        completed_at: null,
      },
      ...{ created_at: expect.any(String), updated_at: body.follow_up.created_at, ticket: null },
    });
    const given = {
      ...{ title: 'Test', description: 'Twice\na year', owner: '42', due_on: '2024-02-29', status: 'done' },
      external_url: 'https://tickets.example/1',
    };
    const whole = await added(incident, given);
    expect(whole).toMatchObject({ ...given, completed_at: whole.created_at });
    expect((await client.get(whole.path)).body.follow_up).toEqual({ ...whole, path: undefined });
    // Nobody who works on the incident has to read it again.
    expect((await client.get(incident.path)).body.incident.revision).toBe(1);
  });

  test('is completed by its status, and no more when it is opened again', async () => {
    const { path, ...created } = await added(await declare());
    const { body: done } = await client.patch(path, { status: 'done' }, at(1));
    expect(done.follow_up).toEqual({
      ...created,
      ...{ revision: 2, status: 'done', completed_at: done.follow_up.updated_at },
      updated_at: expect.any(String),
    });
    const { body: renamed } = await client.patch(path, { title: 'Renamed' }, at(2));
    expect(renamed.follow_up).toMatchObject({ revision: 3, completed_at: done.follow_up.completed_at });
    const { body: dropped } = await client.patch(path, { status: 'dropped' }, at(3));
    expect(dropped.follow_up.completed_at).toBeNull();
    expect((await client.patch(path, { status: 'open' }, at(4))).body.follow_up.completed_at).toBeNull();
  });

  test('has revisions', async () => {
    const { path } = await added(await declare());
    expect(await client.patch(path, { title: 'x' })).toEqual(refused(428, 'precondition_required'));
    expect(await client.patch(path, { title: 'x' }, at(2))).toEqual(refused(412, 'precondition_failed'));
    const same = await client.patch(path, { title: ' Alert on the pool ', owner: '' }, at(1));
    expect([same.status, same.body.follow_up.revision]).toEqual([200, 1]);
    const answers = await Promise.all(['a', 'b', 'c'].map(async (title) => client.patch(path, { title }, at(1))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412]);
  });

  test('may be written after its incident has ended, and not while that is archived', async () => {
    const incident = await declare();
    const { path } = await added(incident);
    await client.post(`${incident.path}/resolve`);
    await client.post(`${incident.path}/close`);
    expect((await add(incident)).status).toBe(201);
    expect((await client.patch(path, { title: 'After' }, at(1))).status).toBe(200);
    await client.post(`${incident.path}/archive`);
    const archived = refused(409, 'invalid_resource_state');
    expect(await add(incident)).toEqual(archived);
    expect(await client.patch(path, { title: 'Later' }, at(2))).toEqual(archived);
    expect(await client.delete(path)).toEqual(archived);
    expect((await client.get(path)).status).toBe(200);
    await client.post(`${incident.path}/restore`);
    expect((await client.delete(path)).status).toBe(204);
    expect(await client.delete(path)).toEqual(refused(404, 'not_found'));
  });

  test('is made once for a key', async () => {
    const incident = await declare();
    const key = { 'Idempotency-Key': 'follow-up' };
    const first = await add(incident, {}, key);
    const again = await add(incident, {}, key);
    expect([again.status, again.text, again.headers.get('Idempotency-Replayed')]).toEqual([201, first.text, 'true']);
    expect(await list(`incident_id=${incident.id}`)).toEqual([first.body.follow_up.id]);
  });

  test('is told in events, in the order of its revisions', async () => {
    const incident = await declare();
    const { path, ticket, ...created } = await added(incident);
    const description = 'x'.repeat(10_000);
    const { ticket: none, ...changed } = (await client.patch(path, { description }, at(1))).body.follow_up;
    expect([ticket, none]).toEqual([null, null]);
    await client.delete(path);
    const events = await eventually(() => publishedOf(created.id).length === 3 && publishedOf(created.id));
    const large = { ...changed, description: { digest: expect.stringMatching(/^sha256:/), bytes: 10_002 } };
    expect(events.map(({ type, data }) => [type, data])).toEqual(
      [
        ['follow_up.created', created],
        ['follow_up.updated', large],
        ['follow_up.deleted', large],
      ].map(([type, follow_up]) => [
        type,
        { incident: { id: incident.id, reference: incident.human_id }, follow_up, actor: '42', api_key: null },
      ]),
    );
  });
});

test('the changelog of the incident says who added, changed and deleted a follow-up, and what was there', async () => {
  const incident = await declare();
  const { path, ...created } = await added(incident, { description: 'Pool', owner: '', due_on: '2026-12-04' });
  const ben = service.as({ workspace: { id: 1, version }, user_id: 43, key: { name: 'tickets', prefix: 'tcs_tick' } });
  await ben.patch(path, { title: 'Enlarge the pool', status: 'done' }, at(1));
  await ben.delete(path);
  const { changelog } = (await client.get(`${incident.path}/changelog`)).body;
  const place = `follow_ups.${created.id}`;
  const own = { incident_id: incident.id, revision: 1, actor: '43', api_key: { name: 'tickets', prefix: 'tcs_tick' } };
  expect(changelog).toMatchObject([
    {
      ...own,
      changes: expect.arrayContaining([
        { field: place, from: 'Enlarge the pool', to: null },
        { field: `${place}.description`, from: 'Pool', to: null },
        { field: `${place}.due_on`, from: '2026-12-04', to: null },
        { field: `${place}.status`, from: 'done', to: null },
      ]),
    },
    {
      ...own,
      changes: [
        { field: `${place}.title`, from: created.title, to: 'Enlarge the pool' },
        { field: `${place}.status`, from: 'open', to: 'done' },
        { field: `${place}.completed_at`, from: null, to: expect.any(String) },
      ],
    },
    { actor: '42', api_key: null, changes: [{ field: place, from: null, to: created.title }] },
  ]);
});

describe('refused', () => {
  test('are owners that are nobody, days that do not exist, and texts that are too long', async () => {
    const incident = await declare();
    const inField = (field: string) => refused(400, 'invalid_request', field);
    for (const owner of ['999', 'Ana', '0']) expect(await add(incident, { owner })).toEqual(inField('owner'));
    for (const due_on of ['2026-02-29', '2026-2-1', '0000-01-01', '2026-02-01T00:00:00Z', 20_260_201])
      expect(await add(incident, { due_on })).toEqual(inField('due_on'));
    expect(await add(incident, { title: 'x'.repeat(256) })).toEqual(inField('title'));
    expect(await add(incident, { title: '\u200B' })).toEqual(inField('title'));
    expect(await add(incident, { description: 'x'.repeat(10_001) })).toEqual(inField('description'));
    expect(await add(incident, { external_url: 'ftp://x' })).toEqual(inField('external_url'));
    expect(await add(incident, { status: 'later' })).toEqual(inField('status'));
  });

  test('is the 501st of an incident, however many requests come at once', async () => {
    const incident = await declare();
    const { id } = await added(incident);
    await service.knex.raw(
      `insert into follow_ups (workspace_id, incident_id, revision, title, description, texts_folded, owner, status,
        external_url, created_at, created_by, updated_at)
      select workspace_id, incident_id, 1, 'x', '', '{x,""}', '', 'open', '', created_at, '42', created_at
      from follow_ups, generate_series(1, 497) where id = ?`,
      [id],
    );
    const answers = await Promise.all(Array.from({ length: 5 }, async () => add(incident)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409, 409]);
  });

  test('is everything of another workspace', async () => {
    const stranger = service.as(OTHER);
    const incident = await declare();
    const { path } = await added(incident);
    const unknown = refused(404, 'not_found');
    expect(await stranger.get(path)).toEqual(unknown);
    expect(await stranger.patch(path, { title: 'x' }, at(1))).toEqual(unknown);
    expect(await stranger.delete(path)).toEqual(unknown);
    expect(await stranger.get(`${incident.path}/follow-ups`)).toEqual(unknown);
    expect(await stranger.post(`${incident.path}/follow-ups`, { title: 'x' })).toEqual(unknown);
    expect((await stranger.get('/api/v1/follow-ups')).body.follow_ups).toEqual([]);
  });
});

describe('lists', () => {
  const TITLES = ['Ärger', 'ärger im Netz', 'ROLLBACK', 'a_b', '100%', 'rollback 100%'];
  const DAYS = [null, null, '0001-01-01', '2026-11-20', '2026-11-21', '9999-12-31'];
  const STATUSES = ['open', 'done', 'dropped'];
  const recorded = fc.record({
    title: fc.constantFrom(...TITLES),
    description: fc.constantFrom('', ...TITLES),
    due_on: fc.constantFrom(...DAYS),
    status: fc.constantFrom(...STATUSES),
    owner: fc.constantFrom('', '42', '43'),
    place: fc.nat({ max: 2 }),
  });
  const maybe = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined, freq: 2 });

  test('are what a model says, page by page', async () => {
    const mine = service.as({ workspace: { id: 3, slug: 'third' } });
    const incidents = [await declare(mine), await declare(mine), await declare(mine)];
    const model: (Record<'title' | 'description' | 'status' | 'owner', string> & {
      id: number;
      incident_id: number;
      due_on: string | null;
    })[] = [];
    // The replica of users knows none of this workspace, so owners are set as an import does.
    for (const { place, owner, ...body } of fc.sample(recorded, { numRuns: 60, seed: 20_261_120 })) {
      const { follow_up: followUp } = (await mine.post(`${incidents[place]?.path}/follow-ups`, body)).body;
      await service.knex('follow_ups').where({ id: followUp.id }).update({ owner });
      model.push({ ...followUp, owner });
    }
    const query = fc.record({
      status: maybe(fc.subarray(STATUSES, { minLength: 1 })),
      owner: maybe(fc.constantFrom('42', '43', 'nobody')),
      incident_id: maybe(fc.constantFrom(...incidents.map(({ id }) => id), 999)),
      due_before: maybe(fc.constantFrom('0001-01-02', '2026-11-21', '9999-12-31')),
      q: maybe(fc.constantFrom('ärger', 'ROLL', '%', '_', 'netz', 'rollback 100%', 'none', '')),
      limit: fc.integer({ min: 4, max: 40 }),
    });
    const lower = (text: string) => text.toLowerCase();
    await fc.assert(
      fc.asyncProperty(query, async (filters) => {
        const { status, owner, incident_id, due_before, q = '' } = filters;
        const expected = model
          .filter(
            (each) =>
              (status === undefined || status.includes(each.status)) &&
              (owner === undefined || each.owner === owner) &&
              (incident_id === undefined || each.incident_id === incident_id) &&
              (due_before === undefined || (each.due_on !== null && each.due_on < due_before)) &&
              [each.title, each.description].some((text) => lower(text).includes(lower(q))),
          )
          .toSorted((a, b) => {
            const [one, other] = [a.due_on ?? 'none', b.due_on ?? 'none'];
            return one === other ? a.id - b.id : one < other ? -1 : 1;
          });
        const search = new URLSearchParams();
        for (const [name, value] of Object.entries(filters))
          for (const each of [value ?? []].flat()) search.append(name, String(each));
        const ids: number[] = [];
        for (;;) {
          const { status, body } = await mine.get(`/api/v1/follow-ups?${search.toString()}`);
          expect([search.toString(), status]).toEqual([search.toString(), 200]);
          expect(body.follow_ups.length).toBeLessThanOrEqual(filters.limit);
          ids.push(...body.follow_ups.map(({ id }: { id: number }) => id));
          if (!body.pagination.has_more) break;
          search.set('cursor', body.pagination.next_cursor);
        }
        expect([search.toString(), ids]).toEqual([search.toString(), expected.map(({ id }) => id)]);
      }),
      { numRuns: 100 },
    );
    const { follow_ups: ofOne } = (await mine.get(`${incidents[0]?.path}/follow-ups?limit=100`)).body;
    expect(ofOne.length).toBe(model.filter((each) => each.incident_id === incidents[0]?.id).length);
  });

  test('end a page of a search after 5,000 follow-ups, and go on behind it', async () => {
    const incident = await declare();
    const ids: number[] = [];
    for (const [index, title] of ['first needle', 'x', 'last needle'].entries())
      ids.push((await added(incident, { title, due_on: `2026-01-0${index + 1}`, owner: '42' })).id);
    await service.knex.raw(
      `insert into follow_ups (workspace_id, incident_id, revision, title, description, texts_folded, owner, due_on,
        status, external_url, created_at, created_by, updated_at)
      select workspace_id, incident_id, 1, 'x', '', '{x,""}', owner, due_on, status, '', created_at, '42', created_at
      from follow_ups, generate_series(1, 5000) where id = ?`,
      [ids[1] ?? 0],
    );
    const query = 'q=needle&owner=42&due_before=2026-01-04';
    const { follow_ups: first, pagination } = (await client.get(`/api/v1/follow-ups?${query}`)).body;
    expect(first.map(({ id }: { id: number }) => id)).toEqual([ids[0]]);
    expect(pagination.has_more).toBe(true);
    expect(await list(query)).toEqual([ids[0], ids[2]]);
  });

  test('are those of the incidents of a service or a team, and end their pages as a search does', async () => {
    const { incident: of } = (await client.post('/api/v1/incidents', { title: 'x', service: 'Ledger' })).body;
    const path = `/api/v1/incidents/${of.id}`;
    const [first, last] = [
      await added({ ...of, path }, { title: 'needle', due_on: '2025-01-01' }),
      await added({ ...of, path }, { title: 'x', due_on: '2025-01-03' }),
    ];
    const { id } = await added(await declare(), { due_on: '2025-01-02' });
    await service.knex.raw(
      `insert into follow_ups (workspace_id, incident_id, revision, title, description, texts_folded, owner, due_on,
        status, external_url, created_at, created_by, updated_at)
      select workspace_id, incident_id, 1, 'x', '', '{x,""}', owner, due_on, status, '', created_at, '42', created_at
      from follow_ups, generate_series(1, 5000) where id = ?`,
      [id],
    );
    expect(await list('service=Ledger')).toEqual([first.id, last.id]);
    const page = (await client.get('/api/v1/follow-ups?service=Ledger')).body;
    expect([page.follow_ups.length, page.pagination.has_more]).toEqual([1, true]);
    expect(await list('service=Ledger&q=needle')).toEqual([first.id]);
    expect(await list('service=ledger')).toEqual([]);
    await service.knex.raw('update incidents set team_id = 5 where id = ?', [of.id]);
    expect(await list('team_id=5&service=Ledger')).toEqual([first.id, last.id]);
    expect(await list('team_id=6')).toEqual([]);
    for (const [query, field] of [
      ['service=', 'service'],
      ['team_id=0', 'team_id'],
    ] as const)
      expect(await client.get(`/api/v1/follow-ups?${query}`)).toEqual(refused(400, 'invalid_request', field));
  });

  test('end a page of a search after 8 MiB of text', async () => {
    const incident = await declare();
    const { id } = await added(incident, { title: 'first needle', owner: '43', due_on: '2026-01-01' });
    const { id: last } = await added(incident, { title: 'last needle', owner: '43' });
    await service.knex.raw(
      `insert into follow_ups (workspace_id, incident_id, revision, title, description, texts_folded, owner, due_on,
        status, external_url, created_at, created_by, updated_at)
      select workspace_id, incident_id, 1, 'x', text, array['x', text], owner, due_on, status, '', created_at, '42',
        created_at
      from follow_ups, repeat('x', 40000) as text, generate_series(1, 250) where id = ?`,
      [id],
    );
    const query = 'q=needle&owner=43&limit=2';
    const { follow_ups: found, pagination } = (await client.get(`/api/v1/follow-ups?${query}`)).body;
    expect([found.length, pagination.has_more]).toEqual([1, true]);
    expect(await list(query)).toEqual([id, last]);
  });

  test('have cursors for their own filters only', async () => {
    const incident = await declare();
    await added(incident);
    await added(incident);
    const own = `incident_id=${incident.id}&limit=1`;
    const { next_cursor: cursor } = (await client.get(`/api/v1/follow-ups?${own}`)).body.pagination;
    expect((await client.get(`/api/v1/follow-ups?${own}&cursor=${cursor}`)).body.follow_ups).toHaveLength(1);
    const wrong = refused(400, 'invalid_request', 'cursor');
    expect(await client.get(`/api/v1/follow-ups?limit=1&cursor=${cursor}`)).toEqual(wrong);
    expect(await client.get(`${incident.path}/follow-ups?limit=1&cursor=${cursor}`)).toEqual(wrong);
  });
});
