import { describe, expect, test } from '@jest/globals';
import { customFieldChangePage, eventData, INTERNAL_PATHS } from '@tocsin/schemas';
import { memoryVersions, type Versions } from '@tocsin/runtime';
import { asService, eventually, httpClient } from '@tocsin/testing';
import { FIELDS, freshUser, revision, serviceForFile } from './service.ts';

/** Versions in memory that can be made to fail. */
const outage = { active: false };
function failingVersions(): Versions {
  const versions = memoryVersions();
  return {
    read: versions.read,
    raise: async (...version) => {
      if (outage.active) throw new Error('the versions are not available');
      await versions.raise(...version);
    },
  };
}

const service = await serviceForFile({ versions: failingVersions() });

const page = async (workspaceId: number, query: string) => {
  const path = `${INTERNAL_PATHS.customFieldChangePages}?workspace_id=${workspaceId}&${query}`;
  const answer = await httpClient(service.app.url, asService('incident', 'custom-field')).get(path);
  expect(answer.status).toBe(200);
  return { ...customFieldChangePage.parse(answer.body), bytes: answer.text.length };
};
/** What changed after a version, which here is one page. */
const changes = async (workspaceId: number, since: number) => {
  const { version, changes: all } = await page(workspaceId, `since=${since}`);
  return { version, fields: all.map(({ field }) => field) };
};
/** All pages from a version on. */
const pages = async (workspaceId: number, since: number) => {
  const all = [await page(workspaceId, `since=${since}`)];
  for (let last = all[0]; last?.next != null; last = all.at(-1)) {
    all.push(await page(workspaceId, `since=${last.version}&after=${last.next}`));
  }
  return all;
};
/** Larger than the API allows, as earlier releases stored them. */
const update = async (workspaceId: number, columns: object) =>
  service.knex('definitions').where({ workspace_id: workspaceId }).update(columns);
const publishedVersion = async (workspaceId: number) => (await service.versions.read(['custom_field'], workspaceId))[0];

describe('the replication of definitions', () => {
  test('every change has an event, and a version that is published before the response', async () => {
    const user = freshUser();
    const workspaceId = user.workspace?.id ?? 0;
    const client = service.as(user);
    const { body } = await client.post(FIELDS, {
      name: 'Zone',
      field_type: 'select',
      config: { options: ['a', { value: 'b', label: 'B' }] },
      default_value: 'a',
      show_on_creation: true,
      required_on_creation: true,
    });
    const path = `${FIELDS}/${body.field.id}`;
    expect(await publishedVersion(workspaceId)).toBe(1);
    await client.patch(path, { required: true }, revision(1));
    expect(await publishedVersion(workspaceId)).toBe(2);
    await client.delete(path);
    expect(await publishedVersion(workspaceId)).toBe(3);
    await client.post(`${path}/restore`);
    expect(await publishedVersion(workspaceId)).toBe(4);

    const mine = await eventually(() => {
      const events = service.events.filter(({ workspace }) => workspace.id === workspaceId);
      return events.length >= 4 && events;
    });
    expect(mine.map(({ type, data }) => [type, data.version, data.field['revision']])).toEqual(
      [1, 2, 3, 4].map((number) => ['custom-field.changed', number, number]),
    );
    for (const { data } of mine) eventData['custom-field.changed'].parse(data);
    expect(mine[0]?.workspace).toEqual({ id: workspaceId, slug: 'acme', is_demo: false });
    expect(mine[1]?.data.field).toEqual({
      id: body.field.id,
      revision: 2,
      name: 'Zone',
      slug: 'zone',
      field_type: 'select',
      default_value: 'a',
      config: { options: ['a', { value: 'b', label: 'B' }] },
      required: true,
      required_on_creation: true,
      sort_order: 1,
      created_at: body.field.created_at,
      archived_at: null,
    });
    expect(mine[2]?.data.field['archived_at']).not.toBeNull();
  });

  test('a pull returns the changes since a version, and publishes a version that is missing', async () => {
    const user = freshUser();
    const workspaceId = user.workspace?.id ?? 0;
    expect(await changes(workspaceId, 0)).toEqual({ version: 0, fields: [] });
    expect(await publishedVersion(workspaceId)).toBe(0);

    const client = service.as(user);
    for (const name of ['a', 'b', 'c']) await client.post(FIELDS, { name, field_type: 'date' });
    const first = await changes(workspaceId, 0);
    expect(first.version).toBe(3);
    expect(first.fields.map(({ slug }) => slug)).toEqual(['a', 'b', 'c']);
    await client.delete(`${FIELDS}/${first.fields[0]?.id}`);
    const second = await changes(workspaceId, 3);
    expect(second).toMatchObject({ version: 4, fields: [{ slug: 'a', archived_at: expect.any(String) }] });
    expect(await changes(workspaceId, 4)).toEqual({ version: 4, fields: [] });
    expect(await changes((user.workspace?.id ?? 0) + 1, 0)).toMatchObject({ fields: [] });
  });

  test('versions become visible in order, also with concurrent changes', async () => {
    const user = freshUser();
    const workspaceId = user.workspace?.id ?? 0;
    const client = service.as(user);
    let writing = true;
    const writes = Promise.all(
      Array.from({ length: 30 }, async (_, index) => client.post(FIELDS, { name: `f${index}`, field_type: 'date' })),
    ).finally(() => (writing = false));
    // A replica that pulls in the meantime must end up with every definition.
    const replica = new Map<number, string>();
    let since = 0;
    const pull = async () => {
      const { version, fields } = await changes(workspaceId, since);
      for (const field of fields) replica.set(field.id, field.slug);
      since = version;
    };
    const isWriting = () => writing;
    while (isWriting()) await pull();
    await writes;
    await pull();
    expect(since).toBe(30);
    expect(replica.size).toBe(30);
  });

  test('a pull loses none of the definitions that were written at once, with one version', async () => {
    const user = freshUser();
    const workspaceId = user.workspace?.id ?? 0;
    const client = service.as(user);
    for (const name of ['a', 'b', 'c', 'd']) await client.post(FIELDS, { name, field_type: 'string' });
    await update(workspaceId, { description: 'x'.repeat(600_000), version: 4 });
    const all = await pages(workspaceId, 0);
    expect(all.map(({ version, changes }) => [version, changes.map(({ field }) => field.slug)])).toEqual([
      [3, ['a']],
      [3, ['b']],
      [3, ['c']],
      [4, ['d']],
    ]);
  });

  test('a change is committed even if its version cannot be published', async () => {
    const user = freshUser();
    const workspaceId = user.workspace?.id ?? 0;
    outage.active = true;
    const { status } = await service.as(user).post(FIELDS, { name: 'a', field_type: 'date' });
    const pulled = await changes(workspaceId, 0);
    outage.active = false;
    expect(status).toBe(201);
    expect(pulled).toMatchObject({ version: 1, fields: [{ slug: 'a' }] });
    expect(await publishedVersion(workspaceId)).toBeUndefined();
    await changes(workspaceId, 0);
    expect(await publishedVersion(workspaceId)).toBe(1);
    await eventually(() => service.events.some(({ workspace }) => workspace.id === workspaceId));
  });

  test('a pull of large definitions is cut into pages of about a mebibyte, oldest changes first', async () => {
    const user = freshUser();
    const workspaceId = user.workspace?.id ?? 0;
    const client = service.as(user);
    for (let number = 1; number <= 9; number += 1) {
      await client.post(FIELDS, { name: `f${number}`, field_type: 'string' });
    }
    await update(workspaceId, { description: 'x'.repeat(400_000) });
    const all = await pages(workspaceId, 0);
    expect(all.map(({ version, changes }) => [version, changes.map((change) => change.version)])).toEqual([
      [1, [1, 2]],
      [3, [3, 4]],
      [5, [5, 6]],
      [7, [7, 8]],
      [9, [9]],
    ]);
    expect(Math.max(...all.map(({ bytes }) => bytes))).toBeLessThan(1_048_576);
    // What changes during a pull comes with its last pages, in its newest state.
    const first = await page(workspaceId, 'since=0');
    await client.patch(`${FIELDS}/${first.changes[0]?.field.id}`, { name: 'n1' }, revision(1));
    const rest = await pages(workspaceId, 8);
    expect(rest.flatMap(({ changes }) => changes.map(({ field }) => field.name))).toEqual(['f9', 'n1']);
    expect(rest.at(-1)?.version).toBe(10);
  });
});
