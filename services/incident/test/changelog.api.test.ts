import { expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { serviceForFile } from './service.ts';

const service = await serviceForFile();
const client = service.as();

async function changed(times: number): Promise<string> {
  const { body } = await client.post('/api/v1/incidents', { title: 'title 1' });
  const path = `/api/v1/incidents/${body.incident.id}`;
  for (let revision = 1; revision <= times; revision += 1) {
    await client.patch(path, { title: `title ${revision + 1}` }, { 'If-Service-Resource-Version': String(revision) });
  }
  return path;
}

test('a new incident has no changelog', async () => {
  const path = await changed(0);
  const { status, body } = await client.get(`${path}/changelog`);
  expect({ status, body }).toEqual({
    status: 200,
    body: { changelog: [], pagination: { limit: 50, has_more: false } },
  });
});

test('pages list each entry once, the newest first', async () => {
  const path = await changed(7);
  const seen: number[] = [];
  for (let next = `${path}/changelog?limit=3`; next !== '';) {
    const { body } = await client.get(next);
    seen.push(...body.changelog.map(({ revision }: { revision: number }) => revision));
    const cursor = body.pagination.next_cursor;
    expect(body.pagination.has_more).toBe(cursor !== undefined);
    next = cursor === undefined ? '' : `${path}/changelog?limit=3&cursor=${cursor}`;
  }
  expect(seen).toEqual([8, 7, 6, 5, 4, 3, 2]);
});

test('neither a timeline event nor a PATCH without a change adds an entry', async () => {
  const path = await changed(1);
  await client.post(`${path}/timeline`, { body: 'x' });
  await client.patch(path, { title: 'title 2' }, { 'If-Service-Resource-Version': '3' });
  const { body } = await client.get(`${path}/changelog`);
  expect(body.changelog).toHaveLength(1);
});

test('an entry has the key that was used, as it was then', async () => {
  const path = await changed(0);
  const write = async (key: { name: string; prefix: string } | undefined, revision: number) =>
    service
      .as({ key })
      .patch(path, { title: `by ${key?.name ?? 'nobody'}` }, { 'If-Service-Resource-Version': String(revision) });
  await write({ name: 'Status page', prefix: 'tcs_Xw90' }, 1);
  await write({ name: 'Renamed', prefix: 'tcs_Xw90' }, 2);
  // A gateway of an earlier release does not say.
  await write(undefined, 3);
  const { changelog } = (await client.get(`${path}/changelog`)).body;
  expect(changelog.map((entry: { api_key: unknown }) => entry.api_key)).toEqual([
    null,
    { name: 'Renamed', prefix: 'tcs_Xw90' },
    { name: 'Status page', prefix: 'tcs_Xw90' },
  ]);
});

test('a cursor is only valid for its incident', async () => {
  const [one, other] = [await changed(2), await changed(2)];
  const { body } = await client.get(`${one}/changelog?limit=1`);
  const cursor: string = body.pagination.next_cursor;
  for (const wrong of [`${other}/changelog?cursor=${cursor}`, `${one}/changelog?cursor=${cursor}x`]) {
    expect(await client.get(wrong)).toMatchObject(refusal(400, 'invalid_request', { field: 'cursor' }));
  }
  const otherWorkspace = service.as({ workspace: { id: 9, slug: 'other' } });
  expect(await otherWorkspace.get(`${one}/changelog`)).toMatchObject(refusal(404, 'not_found'));
  expect(await client.get(`${one}/changelog?sort=asc`)).toMatchObject({ status: 400, body: { field: 'sort' } });
});
