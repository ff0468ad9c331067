import { describe, expect, test } from '@jest/globals';
import { type Client, refusal } from './client.ts';
import type { TestUser } from './principals.ts';
import type { ServiceUnderTest } from './service-harness.ts';

/** A kind of resource, as its API has it. */
export interface TestedResource {
  service: ServiceUnderTest;
  path: string;
  /** The property of a response with one resource, and of a page of them. */
  one: string;
  many: string;
  /** A user of a workspace that no other test uses. */
  newUser: () => TestUser;
  /** What a create needs besides a name. */
  more?: object;
  /** Its name, what a refusal calls the resources, and the refusal of a create. */
  quota: { name: string; subject: string; refused: [status: number, code: string] };
}

const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const UNKNOWN = 999_999_999;
const idsOf = (items: { id: number }[]) => items.map(({ id }) => id);

/** What every kind of resource promises (contract: Revisions, External IDs, Quotas, Lists and cursors). */
export function describeResource(resource: TestedResource): void {
  const suite = suiteOf(resource);
  const { path, many, newClient } = suite;
  describeSlug(suite);
  describeChanges(suite);
  testArchive(suite);
  describeExternalIds(suite);
  describeQuota(suite);

  describe(`the list of ${many}`, () => {
    test('is a page if it is empty', async () => {
      const { body } = await newClient().get(path);
      expect(body).toMatchObject({ [many]: [], pagination: { limit: 50, has_more: false } });
    });
  });
}

type ResourceSuite = ReturnType<typeof suiteOf>;

/** The requests of the tests of a kind. */
function suiteOf(resource: TestedResource) {
  const { service, path, one, more = {} } = resource;
  const newClient = () => service.as(resource.newUser());
  const post = async (client: Client, body: object) => client.post(path, { ...more, ...body });
  const create = async (client: Client, body: object = { name: 'x' }) => {
    const { status, body: reply, text } = await post(client, body);
    if (status !== 201) throw new Error(`${one} not created: ${text}`);
    return reply[one];
  };
  const atOnce = async (count: number, send: (n: number) => ReturnType<Client['post']>) =>
    Promise.all(Array.from({ length: count }, async (_, n) => send(n)));
  return { ...resource, newClient, post, create, atOnce };
}

function describeSlug({ path, one, newClient, post, create, atOnce }: ResourceSuite): void {
  describe(`the slug of a ${one}`, () => {
    const duplicate = refusal(409, 'duplicate_slug', { field: 'slug' });

    test('is numbered if it is generated and taken, by archived ones too', async () => {
      const client = newClient();
      const first = await create(client, { name: 'API' });
      await client.delete(`${path}/${first.id}`);
      const others = [];
      for (const name of ['api', 'Api!', ' api ']) others.push((await create(client, { name })).slug);
      expect([first.slug, ...others]).toEqual(['api', 'api_2', 'api_3', 'api_4']);
    });

    test('is refused if it is given and is or was taken, and stays with a new name', async () => {
      const client = newClient();
      const { id } = await create(client, { name: 'x', slug: 'wanted' });
      expect((await client.patch(`${path}/${id}`, { name: 'New' }, at(1))).body[one]).toMatchObject({ slug: 'wanted' });
      expect(await post(client, { name: 'y', slug: 'wanted' })).toMatchObject(duplicate);
      await client.delete(`${path}/${id}`);
      expect(await post(client, { name: 'y', slug: 'wanted' })).toMatchObject(duplicate);
      expect((await post(newClient(), { name: 'y', slug: 'wanted' })).status).toBe(201);
    });

    test('is given to one of many concurrent creates, and each gets its own if it is generated', async () => {
      const client = newClient();
      const answers = await atOnce(15, async () => post(client, { name: 'x', slug: 'wanted' }));
      const refused = answers.filter(({ status }) => status !== 201);
      expect(refused).toHaveLength(14);
      for (const answer of refused) expect(answer).toMatchObject(duplicate);
      const created = await atOnce(15, async () => post(client, { name: 'same' }));
      expect(new Set(created.map(({ body }) => body[one].slug))).toEqual(
        new Set(['same', ...Array.from({ length: 14 }, (_, n) => `same_${n + 2}`)]),
      );
    });

    test('is required with a name that has no letter', async () => {
      const client = newClient();
      expect(await post(client, { name: '42 🙂' })).toMatchObject(refusal(400, 'invalid_request', { field: 'slug' }));
      expect((await post(client, { name: '42 🙂', slug: 'answer' })).status).toBe(201);
    });
  });
}

function describeChanges({ path, one, newClient, create, atOnce }: ResourceSuite): void {
  describe(`a change of a ${one}`, () => {
    test('is checked in the documented order', async () => {
      const client = newClient();
      const { id } = await create(client);
      const resourcePath = `${path}/${id}`;
      const field = 'If-Service-Resource-Version';
      const refused = async (body: unknown, headers: Record<string, string>, to = resourcePath) => {
        const answer = await client.patch(to, body, headers);
        return [answer.status, answer.body.code, answer.body.field];
      };
      expect(await refused({ name: 1 }, {})).toEqual([428, 'precondition_required', field]);
      for (const bad of ['0', '-1', '+1', '01', '1.0', '"1"', 'W/"1"', '9007199254740992', 'x']) {
        expect(await refused({ name: 1 }, { [field]: bad })).toEqual([400, 'invalid_precondition', field]);
      }
      expect(await refused({ name: 1 }, at(1), `${path}/${UNKNOWN}`)).toEqual([400, 'invalid_request', 'name']);
      expect(await refused({ slug: 'x' }, at(7))).toEqual([400, 'unknown_field', 'slug']);
      expect(await refused({ name: 'x' }, at(7), `${path}/${UNKNOWN}`)).toEqual([404, 'not_found', undefined]);
      expect(await refused({ name: 'y' }, at(7))).toEqual([412, 'precondition_failed', field]);
      await client.delete(resourcePath);
      expect(await refused({ name: 'y' }, at(7))).toEqual([409, 'invalid_resource_state', undefined]);
    });

    test('succeeds for one of ten of the same revision', async () => {
      const client = newClient();
      const { id } = await create(client);
      const answers = await atOnce(10, async (n) => client.patch(`${path}/${id}`, { name: `n${n}` }, at(1)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 412)]);
      expect((await client.get(`${path}/${id}`)).body[one].revision).toBe(2);
    });
  });
}

function testArchive({ path, one, many, newClient, create }: ResourceSuite): void {
  test(`an archived ${one} is readable and restorable, and not in the list`, async () => {
    const client = newClient();
    const resource = await create(client);
    const resourcePath = `${path}/${resource.id}`;
    const archived = await client.delete(resourcePath);
    expect([archived.status, archived.headers.get('Service-Resource-Version')]).toEqual([200, '2']);
    expect(archived.body[one]).toStrictEqual({ ...resource, revision: 2, updated_at: MOMENT, archived_at: MOMENT });
    expect((await client.get(resourcePath)).body).toStrictEqual(archived.body);
    for (const query of ['', '?include_archived=false'])
      expect((await client.get(path + query)).body[many]).toEqual([]);
    expect((await client.get(`${path}?include_archived=true`)).body[many]).toStrictEqual([archived.body[one]]);
    const wrongState = refusal(409, 'invalid_resource_state');
    expect(await client.delete(resourcePath)).toMatchObject(wrongState);
    expect(await client.patch(resourcePath, {}, at(2))).toMatchObject(wrongState);
    const restored = await client.post(`${resourcePath}/restore`);
    expect([restored.status, restored.headers.get('Service-Resource-Version')]).toEqual([200, '3']);
    expect(restored.body[one]).toStrictEqual({ ...resource, revision: 3, updated_at: MOMENT });
    expect(await client.post(`${resourcePath}/restore`)).toMatchObject(wrongState);
  });
}

function describeExternalIds({ path, one, many, newClient, post, create, atOnce }: ResourceSuite): void {
  describe(`the external ID of a ${one}`, () => {
    const taken = (id: number) =>
      refusal(409, 'invalid_resource_state', { field: 'external_id', details: { existing_id: id } });

    test('is set by a create and by a PATCH, found exactly, and cleared', async () => {
      const client = newClient();
      const first = await create(client, { name: 'One', external_id: ' ext/1 ' });
      expect(first.external_id).toBe('ext/1');
      const second = await create(client, { name: 'Two' });
      expect(second).not.toHaveProperty('external_id');
      const patched = await client.patch(`${path}/${second.id}`, { external_id: 'EXT/1' }, at(1));
      expect(patched.body[one]).toMatchObject({ revision: 2, external_id: 'EXT/1' });
      const idsWith = async (id: string, query = '') =>
        idsOf((await client.get(`${path}?external_id=${encodeURIComponent(id)}${query}`)).body[many]);
      expect([await idsWith('ext/1'), await idsWith('EXT/1'), await idsWith('ext')]).toEqual([
        [first.id],
        [second.id],
        [],
      ]);
      const cleared = await client.patch(`${path}/${second.id}`, { external_id: null }, at(2));
      expect(cleared.body[one]).not.toHaveProperty('external_id');
      expect(await idsWith('EXT/1')).toEqual([]);
      await client.delete(`${path}/${first.id}`);
      expect([await idsWith('ext/1'), await idsWith('ext/1', '&include_archived=true')]).toEqual([[], [first.id]]);
      expect((await client.get(`${path}?external_id=`)).status).toBe(400);
    });

    test('is unique in the workspace, archived ones included, and given to one of several at the same time', async () => {
      const client = newClient();
      const [first, second] = [await create(client, { name: 'One', external_id: 'x' }), await create(client)];
      await client.delete(`${path}/${first.id}`);
      expect(await post(client, { name: 'Three', external_id: 'x' })).toMatchObject(taken(first.id));
      expect(await client.patch(`${path}/${second.id}`, { external_id: 'x' }, at(1))).toMatchObject(taken(first.id));
      expect((await client.get(`${path}/${second.id}`)).body[one]).toMatchObject({ revision: 1 });
      await create(newClient(), { name: 'Elsewhere', external_id: 'x' });
      // Its own is not another one's.
      await client.post(`${path}/${first.id}/restore`);
      const again = await client.patch(`${path}/${first.id}`, { external_id: 'x', name: 'Renamed' }, at(3));
      expect([again.status, again.body[one].name]).toEqual([200, 'Renamed']);

      const answers = await atOnce(5, async (n) =>
        n === 0
          ? client.patch(`${path}/${second.id}`, { external_id: 'y' }, at(1))
          : post(client, { name: `n${n}`, external_id: 'y' }),
      );
      const [winner, ...others] = answers.filter(({ status }) => status < 300);
      expect(others).toEqual([]);
      for (const answer of answers) if (answer !== winner) expect(answer).toMatchObject(taken(winner?.body[one].id));
    });
  });
}

function describeQuota({ service, path, one, many, newUser, quota, post, create, atOnce }: ResourceSuite): void {
  describe(`the quota ${quota.name}`, () => {
    const workspaceWith = (limit: number | null) => {
      const { workspace } = newUser();
      const withQuota = (value: number | null) =>
        service.as({ workspace: { ...workspace, quotas: { [quota.name]: value } } });
      return { client: withQuota(limit), withQuota };
    };
    const refused = (subject: string, [status, code] = quota.refused) =>
      refusal(status, code, { message: expect.stringContaining(`may have at most ${subject} (quota ${quota.name})`) });
    const active = (limit: number) => `${limit} active ${quota.subject}`;

    test('is exact for concurrent creates, in each workspace', async () => {
      const { client } = workspaceWith(5);
      const answers = await atOnce(15, async () => post(client, { name: 'x' }));
      const refusals = answers.filter(({ status }) => status !== 201);
      expect(refusals).toHaveLength(10);
      for (const answer of refusals) expect(answer).toMatchObject(refused(active(5)));
      expect((await client.get(path)).body[many]).toHaveLength(5);
      expect((await post(workspaceWith(1).client, { name: 'x' })).status).toBe(201);
    });

    test('counts the active ones; a restoration needs room, and four times the quota is the most of all', async () => {
      const { client } = workspaceWith(1);
      const first = await create(client);
      await client.delete(`${path}/${first.id}`);
      const second = await create(client);
      expect(await client.post(`${path}/${first.id}/restore`)).toMatchObject(
        refused(active(1), [409, 'invalid_resource_state']),
      );
      expect((await client.get(`${path}/${first.id}`)).body[one]).toMatchObject({ revision: 2 });
      await client.delete(`${path}/${second.id}`);
      expect((await client.post(`${path}/${first.id}/restore`)).status).toBe(200);
      await client.delete(`${path}/${first.id}`);
      for (const _ of [3, 4]) await client.delete(`${path}/${(await create(client)).id}`);
      expect(await post(client, { name: 'x' })).toMatchObject(refused(`4 ${quota.subject} with the archived ones`));
    });

    test('that is lowered below the present number refuses new ones only', async () => {
      const { client, withQuota } = workspaceWith(null);
      const items = [];
      for (const name of ['a', 'b', 'c']) items.push(await create(client, { name }));
      const limited = withQuota(1);
      expect(await post(limited, { name: 'd' })).toMatchObject(refused(active(1)));
      expect((await limited.patch(`${path}/${items[0].id}`, { description: 'new' }, at(1))).status).toBe(200);
      expect((await limited.delete(`${path}/${items[1].id}`)).status).toBe(200);
      expect((await limited.get(path)).body[many]).toHaveLength(2);
      expect((await post(withQuota(3), { name: 'd' })).status).toBe(201);
    });
  });
}
