import { expect, test } from '@jest/globals';
import type { Client } from '@tocsin/testing';
import { serviceForFile } from './service.ts';

const LIST = '/api/v1/incidents';

const service = await serviceForFile();

let workspaces = 9_000;
const newWorkspace = () => service.as({ workspace: { id: (workspaces += 1) } });

/** The human IDs of the incidents that `q` finds, the oldest first. */
async function found(client: Client, q: string, more = ''): Promise<string[]> {
  const { status, body } = await client.get(`${LIST}?q=${encodeURIComponent(q)}&direction=asc${more}`);
  expect(status).toBe(200);
  return body.incidents.map(({ human_id }: { human_id: string }) => human_id);
}

test('q finds titles and impact summaries in any case, as they are now', async () => {
  const client = newWorkspace();
  await client.post(LIST, { title: 'ÄRGER with 100% of it', impact_summary: 'Nobody can pay' });
  await client.post(LIST, { title: 'Late mails', impact_summary: '' });
  await client.post(LIST, { title: 'See INC-2' });
  expect(await found(client, 'ärger')).toEqual(['INC-1']);
  expect(await found(client, 'CAN PAY')).toEqual(['INC-1']);
  expect(await found(client, '%')).toEqual(['INC-1']);
  expect(await found(client, 'l')).toEqual(['INC-2']);
  expect(await found(client, '', '&status=open')).toEqual(['INC-1', 'INC-2', 'INC-3']);
  expect(await found(client, 'pay', '&include_counts=true&severity=sev1')).toEqual([]);
  const { incident } = (await client.get('/api/v1/incident-references/INC-1')).body;
  const revision = { 'If-Service-Resource-Version': '1' };
  await client.patch(`${LIST}/${incident.id}`, { impact_summary: 'Nobody can log in' }, revision);
  expect([await found(client, 'can pay'), await found(client, 'can log in')]).toEqual([[], ['INC-1']]);
});

test('q finds a human ID, and those that begin with it', async () => {
  const client = newWorkspace();
  for (let count = 0; count < 12; count += 1) await client.post(LIST, { title: 'x' });
  await client.post(LIST, { title: 'The same as INC-2' });
  expect(await found(client, 'inc-2')).toEqual(['INC-2', 'INC-13']);
  expect(await found(client, 'INC-1')).toEqual(['INC-1', 'INC-10', 'INC-11', 'INC-12', 'INC-13']);
  expect(await found(client, 'INC-')).toEqual(['INC-13']);
});

test('q finds what an earlier release wrote, which has no folded copies', async () => {
  const client = newWorkspace();
  const { incident } = (await client.post(LIST, { title: 'Checkout is down', impact_summary: 'All' })).body;
  const { knex: database } = service;
  await database('incidents').where({ id: incident.id }).update({ title_folded: null, impact_summary_folded: null });
  expect([await found(client, 'CHECKOUT'), await found(client, 'all')]).toEqual([['INC-1'], ['INC-1']]);
});
