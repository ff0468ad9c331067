import { expect, test } from '@jest/globals';
import { addMilliseconds, systemClock } from '@tocsin/runtime';
import { claimTickets } from '../../src/trackers/store/sync-store.ts';
import { serviceForFile } from '../service.ts';
import { TRACKERS } from './trackers.ts';

const service = await serviceForFile();
const { knex } = service;
const now = systemClock.now();
const LEASED = 8;
const RETRIES = 16;

/** Creates a tracker for each of so many follow-ups. */
async function prepare(workspaceId: number, count: number): Promise<number[]> {
  const client = service.as({ workspace: { id: workspaceId } });
  const { id: incidentId } = (await client.post('/api/v1/incidents', { title: 'Checkout is down' })).body.incident;
  const tracker = { name: 'Issues', kind: 'github', project: 'acme/shop', credential: 'github_pat_secret' };
  expect(await client.post(TRACKERS, tracker)).toMatchObject({ status: 201 });
  const followUps: number[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const added = await client.post(`/api/v1/incidents/${incidentId}/follow-ups`, { title: 'Alert on the pool' });
    followUps.push(added.body.follow_up.id);
  }
  return followUps;
}

const full = await prepare(1, LEASED + RETRIES);
const [own = 0] = await prepare(2, 1);
// Only the test claims tickets.
await service.app.stop();

/** Adds a ticket in a tracker of its own that has failed, due for so many milliseconds. */
async function addTicket(
  workspaceId: number,
  followUpId: number,
  { since, leased }: { since: number; leased: boolean },
) {
  const [tracker] = await knex('trackers').where({ workspace_id: workspaceId }).limit(1);
  const id = followUpId + 1_000_000;
  const due = addMilliseconds(now, -since);
  await knex('trackers').insert({ ...tracker, id, name: `Issues ${id}`, failures: 1, due_at: due });
  const lease = leased
    ? { lease_token: '00000000-0000-4000-8000-000000000001', lease_until: addMilliseconds(now, 1) }
    : {};
  await knex('follow_up_tickets').insert({
    ...{
      workspace_id: workspaceId,
      follow_up_id: followUpId,
      tracker_id: id,
      status: 'pending',
      due_at: due,
      ...lease,
    },
  });
}

test('trackers that fail in a workspace with all its leases keep none of another workspace waiting', async () => {
  for (const [nth, id] of full.entries()) await addTicket(1, id, { since: 60_000, leased: nth < LEASED });
  await addTicket(2, own, { since: 0, leased: false });
  const claimed = await claimTickets(knex, { now, limit: 64, retries: RETRIES });
  expect(claimed.map(({ workspaceId, followUpId }) => [workspaceId, followUpId])).toEqual([[2, own]]);
});
