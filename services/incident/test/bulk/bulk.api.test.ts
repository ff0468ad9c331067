import { describe, expect, test } from '@jest/globals';
import { type Answer, type Client, refusal } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { freshWorkspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';
import { aTeam, aUser } from '../snapshots.ts';

let skipped = 0;
const clock = { now: () => new Date(Date.now() + (skipped += step)).toISOString() };
/** Milliseconds that pass whenever somebody looks at the clock. */
let step = 0;

const service = await serviceForFile({ clock });
const { knex: database } = service;

const BULK = '/api/v1/incidents/bulk';
const INCIDENTS = '/api/v1/incidents';
const VERBS = ['resolve', 'close', 'reopen', 'archive', 'restore'] as const;

type Item = { id: number; revision?: number | undefined } & ({ changes: object } | { verb: string });
interface Result {
  status: number;
  incident?: Record<string, unknown> & { revision: number };
  error?: { code: string; details?: object };
}

const keyed = (key: string) => ({ 'Idempotency-Key': key });
const bulk = async (client: Client, items: readonly unknown[], headers = {}): Promise<Answer> =>
  client.post(BULK, { items }, headers);
const resultsOf = ({ body }: Answer) => body.results as (Result & { index: number })[];
const statuses = (answer: Answer) => resultsOf(answer).map(({ status }) => status);

/** What an item asks for, as a request of its own. */
async function single(client: Client, { id, revision, ...item }: Item): Promise<Result> {
  const path = `${INCIDENTS}/${id}`;
  const given = revision === undefined ? {} : { 'If-Service-Resource-Version': String(revision) };
  const { status, body } =
    'changes' in item
      ? await client.patch(path, item.changes, given)
      : await client.post(`${path}/${item.verb}`, revision === undefined ? {} : { expected_revision: revision });
  return status < 300 ? { status, incident: body.incident } : { status, error: body };
}

async function declared(client: Client, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < count; index += 1)
    ids.push((await client.post(INCIDENTS, { title: `Incident ${index}` })).body.incident.id);
  return ids;
}

const changes = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      {
        title: fc.constantFrom('A', 'B', ' '),
        severity: fc.constantFrom('sev1', 'sev9'),
        status: fc.constantFrom('active', 'resolved', 'nonsense'),
        external_id: fc.constantFrom('same', null),
        team_id: fc.constantFrom<unknown>('team', 99, null),
        incident_manager: fc.constantFrom('user', '8', ''),
      },
      { requiredKeys: [] },
    ),
  },
  fc.constantFrom<object>(
    { title: 'a\0b' },
    { regions: ['eu', '\ud800'] },
    { affected_customers: 2 ** 60 },
    { 'x\0': 1 },
    { unknown: 1 },
    { title: 7 },
    { regions: ['x'.repeat(65)] },
    { duration_seconds: 1 },
  ),
);
/** Of which incident, and based on which revision: of now, of before, or none. */
const place = fc.record({
  incident: fc.integer({ min: 0, max: 3 }),
  base: fc.constantFrom('now', 'now', 'now', 'old', 'none'),
});
const item = fc.oneof(
  fc.tuple(place, changes).map(([at, given]) => ({ ...at, more: { changes: given } })),
  fc.tuple(place, fc.constantFrom(...VERBS)).map(([at, verb]) => ({ ...at, more: { verb } })),
);

test('results are those of the single requests, of two clients in turns', async () => {
  const seen = new Set<number>();
  const compared = async (turns: readonly { incident: number; base: string; more: object }[][]) => {
    const sides = await Promise.all(
      ['bulk', 'single'].map(async () => {
        const workspace = freshWorkspace(service);
        // IDs are unique in the installation.
        const [team, user] = [workspace.id + 10_000, workspace.id + 20_000];
        await service.owners.change(workspace.id, (data) => {
          data.teams = [aTeam(team)];
          data.users = [aUser(user)];
        });
        const clients = [workspace.client, workspace.as(43)];
        return { clients, team, user, ids: await declared(workspace.client, 3) };
      }),
    );
    const [one, other] = sides as [(typeof sides)[number], (typeof sides)[number]];
    /** Without what differs between the two workspaces. */
    const comparable = (result: Result, { ids, team, user }: typeof one) =>
      JSON.parse(JSON.stringify(result), (name, value: unknown) => {
        if (['id', 'existing_id'].includes(name)) return ids.indexOf(value as number);
        if (value === team || value === String(user)) return 'some';
        return /^company_id$|^request_id$|_at$|^duration_seconds$/.test(name) && value !== null ? 'some' : value;
      });
    for (const [turn, items] of turns.entries()) {
      const [client, reference] = [one.clients[turn % 2]!, other.clients[turn % 2]!];
      const expected: Result[] = [];
      const sent: Item[] = [];
      const counts = new Map<number, number>();
      for (const { incident, base, more } of items) {
        const count = (counts.get(incident) ?? 0) + 1;
        if (count > 2) continue;
        counts.set(incident, count);
        const { body } = await reference.get(`${INCIDENTS}/${other.ids[incident] ?? 0}`);
        const current: number = body?.incident?.revision ?? 1;
        const revision = base === 'none' ? undefined : base === 'now' ? current : current + 1;
        const at = ({ ids, team, user }: typeof one) => {
          const named = JSON.parse(JSON.stringify(more).replace('"team"', String(team)).replace('"user"', `"${user}"`));
          return { id: ids[incident] ?? 987_654, revision, ...(named as typeof more) } as Item;
        };
        sent.push(at(one));
        expected.push(await single(reference, at(other)));
      }
      if (sent.length === 0) continue;
      const answer = await bulk(client, sent);
      expect(answer.status).toBe(200);
      expect(resultsOf(answer).map(({ index: _, ...result }) => comparable(result, one))).toEqual(
        expected.map((result) => comparable(result, other)),
      );
      expect(resultsOf(answer).map(({ index }) => index)).toEqual([...sent.keys()]);
      for (const status of statuses(answer)) seen.add(status);
    }
  };
  const turns = fc.array(fc.array(item, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 4 });
  await fc.assert(fc.asyncProperty(turns, compared), { numRuns: 30 });
  expect([...seen].sort()).toEqual([200, 400, 404, 409, 412, 428]);
});

describe('a request', () => {
  const client = service.as();

  test.each([
    ['nothing', {}, 'items'],
    ['no item', { items: [] }, 'items'],
    ['51 items', { items: Array.from({ length: 51 }, (_, id) => ({ id: id + 1, verb: 'close' })) }, 'items'],
    ['an incident three times', { items: [1, 2, 1, 1].map((id) => ({ id, verb: 'close' })) }, 'items.3.id'],
    ['something else', { items: [{ id: 1, verb: 'close' }], more: 1 }, 'more'],
  ])('with %s is refused as a whole', async (_, body, field) => {
    expect(await client.post(BULK, body)).toMatchObject({ status: 400, body: { field } });
  });

  test('refuses items by themselves that cannot be stored', async () => {
    const ids = await declared(client, 8);
    const nested = '['.repeat(200) + ']'.repeat(200);
    const changed = [
      '{"title":"kept"}',
      '{"title":"a\\u0000b"}',
      '{"impact_summary":"\\ud800"}',
      '{"affected_customers":1e300}',
      `{"regions":["eu",${nested}]}`,
      '{"title":"a","title":"b"}',
      '{"affected_customers":9007199254740993}',
    ];
    const items = changed.map((text, index) => `{"id":${ids[index]},"revision":1,"changes":${text}}`);
    const last = `{"id":${ids[7]},"verb":"close"}`;
    const twice = `{"id":${ids[0]},"revision":2,"changes":{"title":"x"},"changes":{"title":"y"}}`;
    const answer = await client.post(BULK, `{"items":[${[...items, '"\\u0000"', twice, last].join()}]}`);
    const fields = ['title', 'impact_summary', 'affected_customers', expect.stringMatching(/^regions\.1(?:\.0)*$/)];
    expect(resultsOf(answer).map(({ status, error }) => [status, error])).toMatchObject([
      [200, undefined],
      ...[...fields, 'title', 'affected_customers'].map((field) => [400, { code: 'invalid_request', field }]),
      [400, { code: 'invalid_request' }],
      [400, { code: 'invalid_request', field: 'changes' }],
      [200, undefined],
    ]);
    const titles = await Promise.all(
      ids.map(async (id) => (await client.get(`${INCIDENTS}/${id}`)).body.incident.title),
    );
    expect(titles).toEqual(['kept', ...ids.slice(1).map((_, index) => `Incident ${index + 1}`)]);
  });

  test.each([
    ['a broken item', '{"items":[{"id":1,"verb":"close"},{"id":2,]}', 'invalid_json', undefined],
    ['U+0000 outside of items', '{"items":[{"id":1,"verb":"close"}],"more":"\\u0000"}', 'invalid_request', 'more'],
    ['items twice', '{"items":[{"id":1,"verb":"close"}],"items":[{"id":1}]}', 'invalid_request', 'items'],
  ])('with %s is refused as a whole', async (_, text, code, field) => {
    expect(await client.post(BULK, text)).toMatchObject(refusal(400, code, field === undefined ? {} : { field }));
  });

  test('refuses items by themselves that are none', async () => {
    const [id = 0, other = 0, third = 0] = await declared(client, 3);
    const answer = await bulk(client, [
      null,
      { id: String(id), verb: 'close' },
      { id, verb: 'delete' },
      { id, verb: 'close', changes: {} },
      { id: other, revision: 1, changes: [] },
      { id: third, revision: '1', changes: {} },
    ]);
    expect(resultsOf(answer).map(({ status, error }) => [status, error])).toMatchObject(
      ['', 'id', 'verb', 'changes', 'changes', 'revision'].map((field) => [400, { field }]),
    );
  });

  test('that is only validated stores nothing, and each item sees those before it', async () => {
    const [id = 0] = await declared(client, 1);
    const items = [
      { id, verb: 'archive' },
      { id, revision: 2, changes: { title: 'x' } },
    ];
    const answer = await client.post(`${BULK}?validate_only=true`, { items }, keyed('only'));
    expect(answer.headers.get('Validated-Only')).toBe('true');
    expect(statuses(answer)).toEqual([200, 409]);
    expect((await client.get(`${INCIDENTS}/${id}`)).body.incident).toMatchObject({ revision: 1, archived_at: null });
    expect(statuses(await bulk(client, items, keyed('only')))).toEqual([200, 409]);
  });

  test('begins no item after its time, and goes on with the same key', async () => {
    const ids = await declared(client, 5);
    const items = ids.map((id) => ({ id, verb: 'archive' }));
    step = 3_000;
    const cut = await bulk(client, items, keyed('late'));
    step = 0;
    const done = statuses(cut).filter((status) => status === 200).length;
    expect(statuses(cut)).toEqual(ids.map((_, index) => (index < done ? 200 : 503)));
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(5);
    expect(resultsOf(cut).at(-1)?.error).toMatchObject({
      code: 'service_unavailable',
      message: 'The item was not tried, because the request has taken its time; send it again',
    });
    const whole = await bulk(client, items, keyed('late'));
    expect(resultsOf(whole).slice(0, done)).toEqual(resultsOf(cut).slice(0, done));
    expect(statuses(whole)).toEqual(ids.map(() => 200));
  });

  test('begins no item after two mebibytes of results', async () => {
    const workspace = freshWorkspace(service);
    await workspace.define({ slug: 'large', field_type: 'json' });
    const values = { large: 'x'.repeat(60_000) };
    const ids: number[] = [];
    for (let index = 0; index < 40; index += 1) ids.push(Number((await workspace.declare(values)).split('/').at(-1)));
    const answer = await bulk(
      workspace.client,
      ids.map((id) => ({ id, verb: 'close' })),
    );
    const done = statuses(answer).filter((status) => status === 200).length;
    expect(done).toBeGreaterThan(30);
    expect(done).toBeLessThan(40);
    expect(answer.text.length).toBeLessThan(2_097_152 + 65_536 + 40 * 300);
    expect(resultsOf(answer).at(-1)).toMatchObject({ status: 503, error: { code: 'service_unavailable' } });
  });
});

describe('a key', () => {
  const client = service.as();
  const revisions = async (ids: readonly number[]) =>
    Promise.all(ids.map(async (id) => (await client.get(`${INCIDENTS}/${id}`)).body.incident.revision as number));

  test('gives the same results again, refusals too, whatever has changed', async () => {
    const [one = 0, two = 0] = await declared(client, 2);
    const items = [
      { id: one, verb: 'archive' },
      { id: two, revision: 2, changes: {} },
      { id: 987_654, verb: 'close' },
    ];
    const first = await bulk(client, items, keyed('again'));
    expect([statuses(first), first.headers.get('Idempotency-Replayed')]).toEqual([[200, 412, 404], null]);
    await client.post(`${INCIDENTS}/${one}/restore`);
    await client.patch(`${INCIDENTS}/${two}`, { title: 'x' }, { 'If-Service-Resource-Version': '1' });
    const again = await bulk(client, items, keyed('again'));
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    const comparable = ({ text }: Answer) => text.replaceAll(/"request_id":"[^"]*"/g, '');
    expect(comparable(again)).toBe(comparable(first));
    expect(await revisions([one, two])).toEqual([3, 2]);
    expect(await client.post(BULK, { items: items.slice(0, 1) }, keyed('again'))).toMatchObject(
      refusal(409, 'idempotency_key_reused', { field: 'Idempotency-Key' }),
    );
  });

  test('goes on where an item failed, and does nothing twice', async () => {
    const ids = await declared(client, 3);
    await database.raw(`create function fail() returns trigger language plpgsql as
      $$ begin raise exception using errcode = 'serialization_failure'; end $$`);
    await database.raw(`
      create trigger fail before update on incidents for each row when (new.id = ${ids[1]}) execute function fail()`);
    const items = [...ids, ids[0]].map((id, index) => ({ id, verb: index === 3 ? 'restore' : 'archive' }));
    const failed = await bulk(client, items, keyed('cut'));
    expect(statuses(failed)).toEqual([200, 503, 200, 200]);
    await database.raw('drop trigger fail on incidents');
    const whole = await bulk(client, items, keyed('cut'));
    expect(statuses(whole)).toEqual([200, 200, 200, 200]);
    expect(await revisions(ids)).toEqual([3, 2, 2]);
    expect((await bulk(client, items, keyed('cut'))).text).toBe(whole.text);
  });

  test('of many requests at once has one effect, and one result', async () => {
    const ids = await declared(client, 4);
    const items = [...ids, ...ids].map((id, index) => ({ id, verb: index < 4 ? 'archive' : 'restore' }));
    const send = async () => bulk(client, items, keyed('race'));
    const raced = await Promise.all(Array.from({ length: 10 }, send));
    const last = await send();
    expect(statuses(last)).toEqual(items.map(() => 200));
    for (const answer of raced) {
      if (answer.status === 200) {
        const [results, all] = [resultsOf(answer), resultsOf(last)];
        const cut = results.findIndex(({ status }) => status !== 200);
        const done = cut === -1 ? results.length : cut;
        expect(results.slice(0, done)).toEqual(all.slice(0, done));
        expect(results.slice(done).map(({ status }) => status)).toEqual(all.slice(done).map(() => 503));
      } else expect(answer).toMatchObject(refusal(409, 'idempotency_in_progress'));
    }
    expect(await revisions(ids)).toEqual([3, 3, 3, 3]);
  });
});
