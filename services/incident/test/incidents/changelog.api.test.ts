import { expect, test } from '@jest/globals';
import { serviceForFile } from '../service.ts';

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
