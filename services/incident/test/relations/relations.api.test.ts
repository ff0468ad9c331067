import { describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';

const broker = new RecordingBroker();
const service = await serviceForFile({ broker });
const client = service.as();

interface Declared {
  id: number;
  human_id: string;
}

const declare = async (title = 'Checkout is down', as = client): Promise<Declared> =>
  (await as.post('/api/v1/incidents', { title })).body.incident;
const declareAll = async (count: number) => {
  const incidents: Declared[] = [];
  while (incidents.length < count) incidents.push(await declare(`number ${incidents.length}`));
  return incidents;
};
const pathOf = ({ id }: Declared) => `/api/v1/incidents/${id}/relations`;
const relate = async (one: Declared, type: string, other: { id: number }, headers = {}, as = client) =>
  as.post(pathOf(one), { type, incident_id: other.id }, headers);
const read = async (one: Declared) => (await client.get(`/api/v1/incidents/${one.id}`)).body.incident;
const relationsOf = async (one: Declared): Promise<string[]> => {
  const { relations } = (await client.get(`${pathOf(one)}?limit=100`)).body;
  return relations.map(({ type, incident }: { type: string; incident: Declared }) => `${type} ${incident.human_id}`);
};
const listed = async (query: string): Promise<number[]> =>
  (await client.get(`/api/v1/incidents?limit=100&${query}`)).body.incidents.map(({ id }: Declared) => id);
const refused = (status: number, code: string, field?: string) =>
  expect.objectContaining({ status, body: expect.objectContaining(field === undefined ? { code } : { code, field }) });

describe('a relation', () => {
  test.each([
    ['duplicate_of', 'duplicated_by'],
    ['caused_by', 'causes'],
    ['related', 'related'],
  ])('%s is seen as %s, and both incidents say so', async (type, inverse) => {
    const [one, other] = [await declare('one'), await declare('other')];
    const { status, body } = await relate(one, type, other);
    expect(status).toBe(201);
    expect(body).toEqual({
      relation: {
        id: expect.any(Number),
        type,
        incident: { id: other.id, human_id: other.human_id, title: 'other', severity: 'sev3', status: 'open' },
        created_at: expect.any(String),
        created_by: '42',
        created_by_key: null,
      },
    });
    const { relations } = (await client.get(pathOf(other))).body;
    expect(relations).toEqual([
      {
        ...body.relation,
        type: inverse,
        incident: { id: one.id, human_id: one.human_id, title: 'one', severity: 'sev3', status: 'open' },
      },
    ]);
    for (const [incident, seenAs, to] of [
      [one, type, other],
      [other, inverse, one],
    ] as const) {
      const changes = [{ field: `relations.${seenAs}`, from: null, to: to.human_id }];
      const [entry] = (await client.get(`/api/v1/incidents/${incident.id}/changelog`)).body.changelog;
      expect(entry).toMatchObject({ revision: 2, actor: '42', changes });
      expect((await read(incident)).revision).toBe(2);
      const event = await eventually(() =>
        broker.published.find(({ data }) => data.incident.id === incident.id && data.incident.revision === 2),
      );
      expect(event).toMatchObject({ type: 'incident.updated', data: { changes } });
    }
  });

  test('that exists is 200 with the same body, and changes nothing', async () => {
    const [one, other] = [await declare(), await declare()];
    for (const type of ['duplicate_of', 'related']) {
      const first = await relate(one, type, other);
      const { revision } = await read(one);
      const again = await relate(one, type, other);
      expect([again.status, again.text]).toEqual([200, first.text]);
      expect((await read(one)).revision).toBe(revision);
    }
    // One relation, from whichever side it was made.
    const { status, body } = await relate(other, 'related', one);
    expect([status, body.relation.incident.id]).toEqual([200, one.id]);
    expect(await relationsOf(one)).toEqual([`duplicate_of ${other.human_id}`, `related ${other.human_id}`]);
  });

  test('is made once for a key', async () => {
    const [one, other] = [await declare(), await declare()];
    const key = { 'Idempotency-Key': 'relation' };
    const first = await relate(one, 'caused_by', other, key);
    expect((await client.delete(`${pathOf(one)}/${first.body.relation.id}`)).status).toBe(204);
    const again = await relate(one, 'caused_by', other, key);
    expect([again.status, again.text, again.headers.get('Idempotency-Replayed')]).toEqual([201, first.text, 'true']);
    expect(await relationsOf(one)).toEqual([]);
  });

  test('is deleted from either side', async () => {
    const [one, other] = [await declare(), await declare()];
    const { relation } = (await relate(one, 'duplicate_of', other)).body;
    const third = await declare();
    expect(await client.delete(`${pathOf(third)}/${relation.id}`)).toEqual(refused(404, 'not_found'));
    expect((await client.delete(`${pathOf(other)}/${relation.id}`)).status).toBe(204);
    expect([await relationsOf(one), await relationsOf(other)]).toEqual([[], []]);
    expect([(await read(one)).revision, (await read(other)).revision]).toEqual([3, 3]);
    const [entry] = (await client.get(`/api/v1/incidents/${one.id}/changelog`)).body.changelog;
    expect(entry.changes).toEqual([{ field: 'relations.duplicate_of', from: other.human_id, to: null }]);
    expect(await client.delete(`${pathOf(one)}/${relation.id}`)).toEqual(refused(404, 'not_found'));
  });

  test('shows the other incident as it is now, archived or not', async () => {
    const [one, other] = [await declare(), await declare()];
    await relate(one, 'related', other);
    const changed = { title: 'Renamed', severity: 'sev1' };
    await client.patch(`/api/v1/incidents/${other.id}`, changed, { 'If-Service-Resource-Version': '2' });
    await client.post(`/api/v1/incidents/${other.id}/close`);
    await client.post(`/api/v1/incidents/${other.id}/archive`);
    const { relations } = (await client.get(pathOf(one))).body;
    expect(relations[0].incident).toMatchObject({ ...changed, status: 'closed' });
  });
});

describe('refused', () => {
  test('are oneself, an unknown incident, one of another workspace, and a type of the other side', async () => {
    const one = await declare();
    const foreign = await declare('theirs', service.as({ workspace: { id: 2, slug: 'other' } }));
    const inField = refused(400, 'invalid_request', 'incident_id');
    expect(await relate(one, 'related', one)).toEqual(inField);
    expect(await relate(one, 'related', { id: 999_999_999 })).toEqual(inField);
    expect(await relate(one, 'related', foreign)).toEqual(inField);
    expect(await relate(foreign, 'related', one)).toEqual(refused(404, 'not_found'));
    expect(await client.get(pathOf(foreign))).toEqual(refused(404, 'not_found'));
    const other = await declare();
    for (const type of ['duplicated_by', 'causes', 'Related'])
      expect(await relate(one, type, other)).toEqual(refused(400, 'invalid_request', 'type'));
    expect((await read(one)).revision).toBe(1);
  });

  test('is a write while one of the two is archived', async () => {
    const [one, other] = [await declare(), await declare()];
    const { relation } = (await relate(one, 'related', other)).body;
    await client.post(`/api/v1/incidents/${other.id}/archive`);
    expect(await relate(one, 'caused_by', other)).toEqual(refused(409, 'invalid_resource_state', 'incident_id'));
    expect(await relate(other, 'caused_by', one)).toEqual(refused(409, 'invalid_resource_state'));
    for (const side of [one, other])
      expect(await client.delete(`${pathOf(side)}/${relation.id}`)).toEqual(refused(409, 'invalid_resource_state'));
    expect(await relationsOf(one)).toEqual([`related ${other.human_id}`]);
  });

  test('is the 101st of a type, counted from both sides', async () => {
    const [one, other, more] = [await declare(), await declare(), await declare()];
    await service.knex.raw(
      `insert into incident_relations (workspace_id, id, incident_id, type, related_id, created_at, created_by)
      select workspace_id, 1000000, id, 'duplicated_by', ?, now(), 'x' from incidents where id = ?`,
      [other.id, one.id],
    );
    const others = await declareAll(99);
    for (const each of others) expect((await relate(each, 'duplicate_of', one)).status).toBe(201);
    expect(await relate(more, 'duplicate_of', one)).toEqual(refused(409, 'invalid_resource_state', 'type'));
    expect((await relate(more, 'related', one)).status).toBe(201);
    const pages: string[] = [];
    for (let cursor = ''; ;) {
      const { relations, pagination } = (await client.get(`${pathOf(one)}?limit=40${cursor}`)).body;
      pages.push(...relations.map((each: { incident: Declared }) => each.incident.human_id));
      if (!pagination.has_more) break;
      cursor = `&cursor=${pagination.next_cursor}`;
    }
    expect(pages.toSorted()).toEqual([other, more, ...others].map((each) => each.human_id).toSorted());
  });
});

describe('circles of duplicates', () => {
  test('of any length are refused', async () => {
    const [first, ...others] = (await declareAll(6)) as [Declared, ...Declared[]];
    let last = first;
    for (const next of others) {
      expect((await relate(last, 'duplicate_of', next)).status).toBe(201);
      last = next;
      expect(await relate(last, 'duplicate_of', first)).toEqual(refused(400, 'invalid_request', 'incident_id'));
    }
    // Two ways to one incident are no circle.
    expect((await relate(first, 'duplicate_of', last)).status).toBe(201);
    expect((await relate(last, 'caused_by', first)).status).toBe(201);
  });

  test('are refused when each request closes a part', async () => {
    for (const size of [2, 3, 4, 4, 5, 6]) {
      const ring = await declareAll(size);
      const answers = await Promise.all(
        ring.map(async (each, index) => relate(each, 'duplicate_of', ring[(index + 1) % size] as Declared)),
      );
      const statuses = answers.map(({ status }) => status).toSorted();
      expect(statuses).toEqual([...Array.from({ length: size - 1 }, () => 201), 400]);
    }
  });

  test('are looked for among 1,000 incidents', async () => {
    const [one, top] = [await declare(), await declare()];
    const { rows } = await service.knex.raw<{ rows: [{ names: string }] }>(
      `select string_agg(column_name, ', ') as names from information_schema.columns
      where table_name = 'incidents' and is_generated = 'NEVER' and column_name not in ('id', 'number')`,
    );
    const { names } = rows[0];
    // Each is a duplicate of the next, from the top on.
    await service.knex.raw(
      `with made as (
        insert into incidents (number, ${names})
        select 1000000 + n, ${names} from incidents, generate_series(1, 999) as n where incidents.id = ?
        returning workspace_id, id, number)
      insert into incident_relations (workspace_id, id, incident_id, type, related_id, created_at, created_by)
      select made.workspace_id, 2000000 + made.number, coalesce(before.id, ?), 'duplicate_of', made.id, now(), 'x'
      from made left join made as before on before.number = made.number - 1`,
      [top.id, top.id],
    );
    const { relation } = (await relate(one, 'duplicate_of', top)).body;
    expect((await client.delete(`${pathOf(one)}/${relation.id}`)).status).toBe(204);
    await relate(top, 'duplicate_of', await declare());
    expect(await relate(one, 'duplicate_of', top)).toEqual(refused(409, 'invalid_resource_state'));
  });
});

test('opposite requests at once make one relation, and none fails', async () => {
  for (let round = 0; round < 10; round += 1) {
    const [one, other] = [await declare(), await declare()];
    const answers = await Promise.all([
      relate(one, 'related', other),
      relate(other, 'related', one),
      relate(one, 'caused_by', other),
      relate(other, 'caused_by', one),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 201, 201, 201]);
    expect([(await read(one)).revision, (await read(other)).revision]).toEqual([4, 4]);
  }
});

test('lists, counts and statistics select duplicates, or leave them out', async () => {
  const [one, other, third] = [await declare('only these'), await declare('only these'), await declare('only these')];
  const { relation } = (await relate(one, 'duplicate_of', other)).body;
  const second = (await relate(one, 'duplicate_of', third)).body.relation;
  await relate(third, 'related', other);
  const statistics = async (query: string) => {
    const { buckets } = (await client.get(`/api/v1/incidents/statistics?q=only+these&${query}`)).body.statistics;
    return buckets.reduce((sum: number, { incidents }: { incidents: number }) => sum + incidents, 0);
  };
  const all = 'q=only+these';
  expect(await listed(`${all}&duplicate=true`)).toEqual([one.id]);
  expect(await listed(`${all}&duplicate=false`)).toEqual([third.id, other.id]);
  const { collection_counts: counts } = (
    await client.get(`/api/v1/incidents?${all}&duplicate=false&include_counts=true`)
  ).body;
  expect(counts.matched).toBe(2);
  expect([await statistics(''), await statistics('duplicate=true'), await statistics('duplicate=false')]).toEqual([
    3, 1, 2,
  ]);
  // It is a duplicate until the last of its relations is gone.
  await client.delete(`${pathOf(one)}/${relation.id}`);
  expect(await listed(`${all}&duplicate=true`)).toEqual([one.id]);
  await client.delete(`${pathOf(third)}/${second.id}`);
  expect(await listed(`${all}&duplicate=true`)).toEqual([]);
});
