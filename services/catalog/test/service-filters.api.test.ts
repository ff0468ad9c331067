import { expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { create, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();
const client = service.as(newWorkspace());
const teams = [await create(client, 'team', { name: 'One' }), await create(client, 'team', { name: 'Two' })];
const [one, two] = teams.map(({ id }) => id);
for (const body of [
  { name: 'Checkout', tier: 't0', owner_team_id: one, external_id: 'c-1' },
  { name: 'Checkout Mail', tier: 't1', owner_team_id: one },
  { name: 'Ärger', slug: 'trouble_100', tier: 't1', owner_team_id: two },
  { name: '100% Search_Engine Two Point Zero', slug: 'finder', tier: 't2' },
  { name: 'Old', tier: 't3', owner_team_id: two },
]) {
  await create(client, 'service', body);
}
const old = (await client.get('/api/v1/services?tier=t3')).body.services[0];
await client.delete(`/api/v1/services/${old.id}`);

const list = async (query: string) => client.get(`/api/v1/services?${query}`);
const namesFor = async (query: string) => (await list(query)).body.services.map(({ name }: { name: string }) => name);

test.each<[string, string[]]>([
  ['q=CHECK', ['Checkout', 'Checkout Mail']],
  ['q=checkout%20mail', ['Checkout Mail']],
  ['q=%20mail%20', ['Checkout Mail']],
  ['q=%C3%A4RGER', ['Ärger']],
  ['q=trouble_1', ['Ärger']],
  ['q=_', ['Checkout Mail', 'Ärger', '100% Search_Engine Two Point Zero']],
  ['q=%25', ['100% Search_Engine Two Point Zero']],
  ['q=.*', []],
  ['q=engine+two+point', ['100% Search_Engine Two Point Zero']],
  ['q=engine+two+pint', []],
  ['q=old', []],
  ['q=old&include_archived=true', ['Old']],
  ['tier=t1', ['Checkout Mail', 'Ärger']],
  ['tier=t2&tier=t0&tier=t0', ['Checkout', '100% Search_Engine Two Point Zero']],
  ['external_id=c-1', ['Checkout']],
  ['external_id=C-1', []],
  ['q=check&tier=t1', ['Checkout Mail']],
  ['owner_team_id=999999999', []],
])('services?%s', async (query, expected) => {
  expect(await namesFor(query)).toEqual(expected);
});

test('by owner, together with others and in pages', async () => {
  const [one, two] = teams.map(({ id }) => id);
  expect(await namesFor(`owner_team_id=${one}`)).toEqual(['Checkout', 'Checkout Mail']);
  expect(await namesFor(`owner_team_id=${two}&include_archived=true`)).toEqual(['Ärger', 'Old']);
  expect(await namesFor(`owner_team_id=${one}&tier=t1&q=mail`)).toEqual(['Checkout Mail']);
  const first = (await list('q=c&limit=1&tier=t1&tier=t0')).body;
  expect([first.services[0].name, first.pagination.has_more]).toEqual(['Checkout', true]);
  const next = `limit=1&cursor=${encodeURIComponent(first.pagination.next_cursor)}`;
  const second = (await list(`${next}&q=c&tier=t0&tier=t1`)).body;
  expect([second.services[0].name, second.pagination.has_more]).toEqual(['Checkout Mail', false]);
  expect(await list(`${next}&q=k&tier=t0&tier=t1`)).toMatchObject({ status: 400, body: { field: 'cursor' } });
});

test.each([
  ['q=', 'q'],
  ['q=%20', 'q'],
  [`q=${'x'.repeat(201)}`, 'q'],
  ['tier=t9', 'tier'],
  ['tier=', 'tier'],
  ['owner_team_id=0', 'owner_team_id'],
  ['owner_team_id=x', 'owner_team_id'],
  ['owner_team_id=1&owner_team_id=2', 'owner_team_id'],
  [`external_id=${'x'.repeat(501)}`, 'external_id'],
])('services?%s is refused', async (query, field) => {
  expect(await list(query)).toMatchObject(refusal(400, 'invalid_request', { field }));
});
