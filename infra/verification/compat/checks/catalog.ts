import assert from 'node:assert/strict';
import { compareRecords, type Context, made, previous, record, revisionHeader, succeed } from '../world.ts';

/** Creates a team with a member, and a service; changes those of the combination before. */
export async function checkCatalog(context: Context): Promise<void> {
  const { client, label, current } = context;
  const team = await succeed(201, 'a new team', async () =>
    client.post(
      '/api/v1/teams',
      { name: `Team ${label}`, description: 'On call' },
      { 'Idempotency-Key': `team-${label}` },
    ),
  );
  const teamPath = `/api/v1/teams/${team.body.team.id}`;
  record(context, teamPath, 'team', team);
  current.team = team.body.team;

  // The user is in the catalog's replica, which has the change from the gateway by event or by request.
  const userId = made(context, 'userId');
  await succeed(201, 'a new member', async () => client.post(`${teamPath}/members`, { user_id: userId, role: 'lead' }));
  const members = await succeed(200, 'the members', async () => client.get(`${teamPath}/members`));
  assert.match(members.text, new RegExp(`${label}@acme\\.example`, 'u'));

  const body = {
    name: `Service ${label}`,
    owner_team_id: current.team?.id,
    tier: 't1',
    tags: ['a'],
    description: 'Pays',
  };
  const key = `service-${label}`;
  const service = await succeed(201, 'a new service', async () =>
    client.post('/api/v1/services', body, { 'Idempotency-Key': key }),
  );
  record(context, `/api/v1/services/${service.body.service.id}`, 'service', service);
  current.service = service.body.service;
  (current.repeatable ??= []).push({ client, path: '/api/v1/services', body, key, text: service.text });
}

/** Changes, archives and restores what the combination before created. */
export async function checkCatalogChanges(context: Context): Promise<void> {
  const { client, label } = context;
  const [team, service] = [previous(context, 'team'), previous(context, 'service')];
  if (team !== undefined) {
    const path = `/api/v1/teams/${team.id}`;
    const change = { name: `Team changed in ${label}` };
    const send = async () => client.patch(path, change, revisionHeader(team.revision));
    record(context, path, 'team', await succeed(200, 'a changed team', send));
  }
  if (service !== undefined) {
    const path = `/api/v1/services/${service.id}`;
    const change = { tags: ['a', label] };
    await succeed(200, 'a changed service', async () => client.patch(path, change, revisionHeader(service.revision)));
    await succeed(200, 'an archived service', async () => client.delete(path));
    const restored = await succeed(200, 'a restored service', async () => client.post(`${path}/restore`));
    record(context, path, 'service', restored);
  }
}

/** All that was created is in the lists and reads as it was written. */
export async function checkCatalogReads(context: Context): Promise<void> {
  for (const [path, list] of [
    ['/api/v1/teams', 'teams'],
    ['/api/v1/services', 'services'],
  ] as const) {
    const answer = await succeed(200, list, async () => context.client.get(`${path}?limit=100`));
    const ids = new Set((answer.body[list] as { id: number }[]).map(({ id }) => `${path}/${id}`));
    const missing = [...context.world.records.keys()].filter((each) => each.startsWith(`${path}/`) && !ids.has(each));
    assert.deepEqual(missing, [], `resources that the list of ${list} lacks`);
    await compareRecords(context, `${path}/`);
  }
}
