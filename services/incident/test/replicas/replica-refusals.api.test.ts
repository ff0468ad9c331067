import { afterEach, describe, expect, test } from '@jest/globals';
import { type Answer, refusal } from '@tocsin/testing';
import { freshWorkspace, type Workspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';
import { aTeam, aUser } from '../snapshots.ts';

const INCIDENTS = '/api/v1/incidents';

const service = await serviceForFile();
afterEach(() => {
  service.owners.announcementsDisabled = false;
  service.owners.down = false;
});

/** A change that its owner does not announce, and requests that are valid only after it. */
const CASES: Record<
  string,
  { change: (w: Workspace) => Promise<unknown>; request: (w: Workspace) => Promise<Answer> }
> = {
  'a team, at the creation of an incident': {
    change: async ({ id }) => service.owners.change(id, ({ teams }) => void teams.push(aTeam(700_001))),
    request: async ({ client }) => client.post(INCIDENTS, { title: 'x', team_id: 700_001 }),
  },
  'a team, in a change of an incident': {
    change: async ({ id }) => service.owners.change(id, ({ teams }) => void teams.push(aTeam(700_002))),
    request: async ({ client, declare }) =>
      client.patch(await declare(), { team_id: 700_002 }, { 'If-Service-Resource-Version': '1' }),
  },
  'a user': {
    change: async ({ id }) => service.owners.change(id, ({ users }) => void users.push(aUser(700_003))),
    request: async ({ client, declare }) =>
      client.patch(await declare(), { incident_manager: '700003' }, { 'If-Service-Resource-Version': '1' }),
  },
  'a tier, in a filter': {
    change: async ({ id }) =>
      service.owners.change(id, (data) => {
        data.tiers = [...data.tiers, { key: 'gold', label: 'Gold', order: 4, is_default: false }];
      }),
    request: async ({ client }) => client.get(`${INCIDENTS}?service_tier=gold`),
  },
  'a field, at the creation of an incident': {
    change: async ({ define }) => define({ id: 700_004, slug: 'late' }),
    request: async ({ client }) =>
      client.post(INCIDENTS, { title: 'x', custom_field_values: [{ field_id: 700_004, value: 'v' }] }),
  },
  'a field, in a change of values': {
    change: async ({ define }) => define({ id: 700_005, slug: 'later' }),
    request: async ({ client, declare }) =>
      client.patch(`${await declare()}/custom-fields`, { values: [{ field_id: 700_005, value: 'v' }] }),
  },
  'a field, in a filter': {
    change: async ({ define }) => define({ id: 700_006, slug: 'latest' }),
    request: async ({ client }) =>
      client.get(
        `${INCIDENTS}?custom_filter=${encodeURIComponent(JSON.stringify({ slug: 'latest', operator: 'is', value: 'v' }))}`,
      ),
  },
};

/** All replicas of the workspace are up to date, and their versions are cached. */
async function settledWorkspace(): Promise<Workspace> {
  const workspace = freshWorkspace(service);
  await service.owners.change(workspace.id, ({ users }) => void users.push(aUser(workspace.id)));
  const path = await workspace.declare();
  const version = { 'If-Service-Resource-Version': '1' };
  expect((await workspace.client.patch(path, { incident_manager: String(workspace.id) }, version)).status).toBe(200);
  return workspace;
}

describe.each(Object.entries(CASES))('%s', (_what, { change, request }) => {
  test('that its owner has confirmed is accepted even if its version was never announced', async () => {
    const workspace = await settledWorkspace();
    service.owners.announcementsDisabled = true;
    await change(workspace);
    const { status, text } = await request(workspace);
    expect([status, text]).toEqual([status < 300 ? status : 0, text]);
  });

  test('that does not exist is rejected', async () => {
    const workspace = await settledWorkspace();
    const { calls } = service.owners;
    expect(await request(workspace)).toMatchObject(refusal(400, 'invalid_request'));
    expect(service.owners.calls).toBeGreaterThan(calls);
  });
});

test('a request that the replica allows calls no owner', async () => {
  const workspace = await settledWorkspace();
  const { calls } = service.owners;
  await workspace.declare();
  expect(service.owners.calls).toBe(calls);
});

test('while the owner is down, a replica with all announced changes refuses without it', async () => {
  const workspace = await settledWorkspace();
  service.owners.down = true;
  for (const wrong of [{ team_id: 700_007 }, { custom_field_values: [{ field_id: 700_007, value: 'v' }] }]) {
    expect(await workspace.client.post(INCIDENTS, { title: 'x', ...wrong })).toMatchObject(
      refusal(400, 'invalid_request'),
    );
  }
});
