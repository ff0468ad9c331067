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

/** The revisions of all entries, read in pages. */
async function revisionsOf(path: string, query = ''): Promise<number[]> {
  const seen: number[] = [];
  for (let next = `${path}/changelog?limit=3${query}`; next !== '';) {
    const { status, body } = await client.get(next);
    expect(status).toBe(200);
    seen.push(...body.changelog.map(({ revision }: { revision: number }) => revision));
    const cursor = body.pagination.next_cursor;
    expect(body.pagination.has_more).toBe(cursor !== undefined);
    next = cursor === undefined ? '' : `${path}/changelog?limit=3${query}&cursor=${cursor}`;
  }
  return seen;
}

test('pages list each entry once, the newest or the oldest first', async () => {
  const path = await changed(7);
  expect(await revisionsOf(path)).toEqual([8, 7, 6, 5, 4, 3, 2]);
  expect(await revisionsOf(path, '&order=asc')).toEqual([2, 3, 4, 5, 6, 7, 8]);
  const { body } = await client.get(`${path}/changelog?limit=3`);
  const other = await client.get(`${path}/changelog?limit=3&order=asc&cursor=${body.pagination.next_cursor}`);
  expect({ status: other.status, field: other.body.field }).toEqual({ status: 400, field: 'cursor' });
});

test('entries that only say that events were added are left out on request', async () => {
  const path = await changed(1);
  for (const body of ['one', 'two', 'three', 'four']) await client.post(`${path}/timeline`, { body });
  const [event] = (await client.get(`${path}/timeline`)).body.events;
  const eventPath = `/api/v1/timeline/${event.id}`;
  await client.patch(eventPath, { body: 'changed' }, { 'If-Service-Resource-Version': '1' });
  await client.post(`${path}/follow-ups`, { title: 'left' });
  await client.delete(eventPath);
  const all = await revisionsOf(path, '&order=asc');
  expect(all).toHaveLength(8);
  expect(await revisionsOf(path, '&order=asc&new_events=false')).toEqual([all[0], ...all.slice(5)]);
  expect(await revisionsOf(path, '&new_events=false')).toEqual([...all.slice(5), all[0]].sort().reverse());
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
