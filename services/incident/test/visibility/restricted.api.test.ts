import { describe, expect, test } from '@jest/globals';
import { SCOPES } from '@tocsin/schemas';
import { eventually, refusal } from '@tocsin/testing';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';
import { aTeam, aUser } from '../snapshots.ts';
import { anItem, transferOf } from '../transfer/transfer.ts';

const broker = new RecordingBroker();
const service = await serviceForFile({ broker });
const version = await service.owners.change(1, (data) => {
  data.users = [42, 50, 51, 52, 53].map((id) => aUser(id));
  data.teams = [aTeam(3)];
});
const INCIDENTS = '/api/v1/incidents';
const as = (user: Parameters<typeof service.as>[0] = {}) => service.as({ workspace: { version }, ...user });
const member = (user_id: number) => as({ user_id, permissions: [] });
const withoutScope = SCOPES.filter((scope) => scope !== 'restricted:read');

const owner = as({ user_id: 60 });
const declarer = member(42);
const outsider = member(53);

interface Declared {
  id: number;
  human_id: string;
  revision: number;
}
const declare = async (body: object = {}, client = declarer): Promise<Declared> =>
  (await client.post(INCIDENTS, { title: 'The secret', restricted: true, ...body })).body.incident;
const pathOf = ({ id }: { id: number }) => `${INCIDENTS}/${id}`;
const sees = async (client: typeof owner, incident: Declared) => (await client.get(pathOf(incident))).status === 200;
const patch = async (client: typeof owner, incident: Declared, body: object) => {
  const { headers } = await owner.get(pathOf(incident));
  const revision = String(headers.get('Service-Resource-Version'));
  return client.patch(pathOf(incident), body, { 'If-Service-Resource-Version': revision });
};

describe('a restricted incident', () => {
  test('exists for its declarer, manager, responders, those it is visible to, and who may see all', async () => {
    service.owners.teamsOf.set(52, [3]);
    const incident = await declare();
    const people = [declarer, owner, member(50), member(51), member(52), outsider];
    const seen = async () => Promise.all(people.map(async (client) => sees(client, incident)));
    expect(await seen()).toEqual([true, true, false, false, false, false]);
    await patch(declarer, incident, { incident_manager: '50' });
    expect(await seen()).toEqual([true, true, true, false, false, false]);
    await patch(declarer, incident, { incident_manager: '', incident_responders: ['51'] });
    expect(await seen()).toEqual([true, true, false, true, false, false]);
    await patch(declarer, incident, { incident_responders: [], visible_to: { users: [50], teams: [3] } });
    // Teams see the first restricted incident of a workspace two seconds later.
    await eventually(async () => sees(member(52), incident));
    expect(await seen()).toEqual([true, true, true, false, true, false]);
    await patch(declarer, incident, { restricted: false });
    expect(await seen()).toEqual([true, true, true, true, true, true]);
  });

  test('does not exist for a key without the scope, whoever owns it', async () => {
    const incident = await declare();
    for (const user of [{ user_id: 42, permissions: [] }, { user_id: 60 }]) {
      expect(await sees(as({ ...user, scopes: withoutScope }), incident)).toBe(false);
    }
  });

  test('is gone at once for who leaves its team, and without the catalog nobody is in a team', async () => {
    service.owners.teamsOf.set(52, [3]);
    const incident = await declare({ visible_to: { teams: [3] } });
    await eventually(async () => sees(member(52), incident));
    service.owners.teamsOf.set(52, []);
    await eventually(async () => !(await sees(member(52), incident)));
    service.owners.teamsOf.set(52, [3]);
    await eventually(async () => sees(member(52), incident));
    service.owners.down = true;
    try {
      await eventually(async () => !(await sees(member(52), incident)));
      expect(await sees(declarer, incident)).toBe(true);
    } finally {
      service.owners.down = false;
    }
    // Until then, requests of the tests below that need the catalog are 503.
    await eventually(async () => sees(member(52), incident));
  });

  test('names users and teams that exist', async () => {
    const post = async (visible_to: unknown) => declarer.post(INCIDENTS, { title: 'x', restricted: true, visible_to });
    expect(await post({ users: [42, 99] })).toMatchObject(
      refusal(400, 'invalid_request', { field: 'visible_to.users.1' }),
    );
    expect(await post({ teams: [4] })).toMatchObject(refusal(400, 'invalid_request', { field: 'visible_to.teams.0' }));
    expect(await post({ teams: ['3'] })).toMatchObject(
      refusal(400, 'invalid_request', { field: 'visible_to.teams.0' }),
    );
    expect(await post({ groups: [] })).toMatchObject(refusal(400, 'unknown_field', { field: 'visible_to.groups' }));
    const { body } = await post({ users: [50, 50] });
    expect(body.incident.visible_to).toEqual({ users: [50], teams: [] });
  });

  test('is not said to be there by its external ID', async () => {
    await declare({ external_id: 'hidden' });
    const answer = await outsider.post(INCIDENTS, { title: 'x', external_id: 'hidden' });
    expect(answer).toMatchObject(refusal(409, 'invalid_resource_state', { field: 'external_id' }));
    expect(answer.body.details).toBeUndefined();
    expect((await declarer.post(INCIDENTS, { title: 'x', external_id: 'hidden' })).body.details).toBeDefined();
    await declare({ external_id: 'dispatch:7' });
    const { results } = transferOf(as({ user_id: 60, scopes: withoutScope }));
    expect(await results(anItem('7'))).toMatchObject([
      {
        outcome: 'refused',
        message: 'Another incident has the external ID dispatch:7',
      },
    ]);
  });

  test('is the answer to a repeated create only as long as it may be seen', async () => {
    const key = { 'Idempotency-Key': 'once' };
    const body = { title: 'Mine', restricted: true };
    const first = await declarer.post(INCIDENTS, body, key);
    expect((await declarer.post(INCIDENTS, body, key)).text).toBe(first.text);
    const weaker = as({ user_id: 42, permissions: [], scopes: withoutScope });
    expect(await weaker.post(INCIDENTS, body, key)).toMatchObject(refusal(404, 'not_found'));
  });

  test('is related without a word in the other incident, which is not restricted', async () => {
    const hidden = await declare();
    const open = (await declarer.post(INCIDENTS, { title: 'Open' })).body.incident as Declared;
    const relations = `${pathOf(open)}/relations`;
    const relate = async (client: typeof owner, type: string) =>
      client.post(relations, { type, incident_id: hidden.id });
    expect(await relate(outsider, 'related')).toMatchObject(refusal(400, 'invalid_request', { field: 'incident_id' }));
    expect(await relate(declarer, 'duplicate_of')).toMatchObject(
      refusal(400, 'invalid_request', {
        field: 'incident_id',
        message: 'Must not be restricted unless this incident is',
      }),
    );
    const { relation } = (await relate(declarer, 'related')).body;
    expect((await declarer.get(relations)).body.relations).toEqual([relation]);
    expect((await outsider.get(relations)).body.relations).toEqual([]);
    expect((await outsider.delete(`${relations}/${relation.id}`)).status).toBe(404);
    const { incident } = (await outsider.get(pathOf(open))).body;
    expect(incident.revision).toBe(1);
    expect((await outsider.get(`${pathOf(open)}/changelog`)).body.changelog).toEqual([]);
    const { changelog } = (await declarer.get(`${pathOf(hidden)}/changelog`)).body;
    expect(changelog).toMatchObject([{ changes: [{ field: 'relations.related', to: open.human_id }] }]);
    expect((await declarer.delete(`${relations}/${relation.id}`)).status).toBe(204);
    expect((await outsider.get(pathOf(open))).body.incident.revision).toBe(1);
  });

  test('has events that say so, until it is no longer restricted', async () => {
    const hidden = await declare({ service: 'vault' });
    await declarer.post(`${pathOf(hidden)}/timeline`, { body: 'A note' });
    await declarer.post(`${pathOf(hidden)}/follow-ups`, { title: 'Later' });
    await patch(declarer, hidden, { restricted: false });
    const events = await eventually(async () => {
      const published = broker.published.filter(({ data }) => data.incident?.id === hidden.id);
      return published.length === 5 && published;
    });
    expect(events.map(({ type, restricted }) => [type, restricted])).toEqual([
      ['incident.created', true],
      ['incident.updated', true],
      ['timeline_event.created', true],
      ['follow_up.created', true],
      ['incident.updated', undefined],
    ]);
  });

  test('counts as no use of a service, until it is no longer restricted', async () => {
    const count = async () => {
      const rows = await service.knex('service_references').where({ workspace_id: 1, value: 'crypt' });
      return rows.map(({ incidents }: { incidents: number }) => incidents);
    };
    const hidden = await declare({ service: 'crypt' });
    expect(await count()).toEqual([]);
    await patch(declarer, hidden, { restricted: false });
    expect(await count()).toEqual([1]);
    await patch(declarer, hidden, { restricted: true });
    expect(await count()).toEqual([]);
  });
});

test('who has read a restricted incident is recorded, by user, key and hour', async () => {
  const key = { name: 'browser', prefix: 'tcs_abcd' };
  const incident = await declare();
  const path = `${pathOf(incident)}/accesses`;
  const reader = as({ user_id: 42, permissions: [], key });
  await reader.get(pathOf(incident));
  await reader.get(`${pathOf(incident)}/timeline`);
  await reader.get(`${INCIDENTS}?q=secret`);
  await outsider.get(pathOf(incident));
  await owner.get(`/api/v1/incident-references/${incident.human_id}`);
  const { accesses } = (await owner.get(path)).body;
  expect(accesses).toEqual([
    expect.objectContaining({ user_id: 60, api_key: null }),
    expect.objectContaining({ user_id: 42, api_key: key, count: 3 }),
  ]);
  expect((await owner.get(`${path}?limit=1`)).body).toMatchObject({
    accesses: [{ user_id: 60 }],
    pagination: { has_more: true },
  });
  expect(await declarer.get(path)).toMatchObject(refusal(403, 'missing_role_permission'));
});

describe('incidents are restricted without a word in the request', () => {
  test('if their severity says so', async () => {
    const configurator = as({ user_id: 60, workspace: { id: 2 } });
    const { configuration } = (await configurator.get('/api/v1/settings/configuration')).body;
    const severities = configuration.severities.map(({ order: _, ...severity }: { key: string; order: number }) => ({
      ...severity,
      restricted: severity.key === 'sev1',
    }));
    const revision = { 'If-Service-Resource-Version': String(configuration.revision) };
    expect((await configurator.put('/api/v1/settings/configuration', { severities }, revision)).status).toBe(200);
    const restrictedOf = async (body: object) =>
      (await configurator.post(INCIDENTS, { title: 'x', ...body })).body.incident.restricted;
    expect(await restrictedOf({ severity: 'sev1' })).toBe(true);
    expect(await restrictedOf({ severity: 'sev1', restricted: false })).toBe(false);
    expect(await restrictedOf({ severity: 'sev2' })).toBe(false);
  });

  test('if their monitor says so, or if the one that the alert had before is', async () => {
    const alert = async (id: string, query = '') =>
      (await declarer.post(`/api/v1/alerts${query}`, { id, status: 'firing', title: id })).body.results[0].incident;
    const declared = await alert('intrusion', '?restricted=true');
    expect(await sees(outsider, declared)).toBe(false);
    const seen = await alert('noise');
    await patch(declarer, seen, { restricted: true, visible_to: { users: [50] } });
    await declarer.post(`${pathOf(seen)}/close`);
    await declarer.post('/api/v1/alerts', { id: 'noise', status: 'resolved', title: 'noise' });
    const again = await alert('noise');
    expect(again.id).not.toBe(seen.id);
    expect([await sees(outsider, again), await sees(member(50), again)]).toEqual([false, true]);
    const { notifications } = (await outsider.get('/api/v1/alerts?limit=100')).body;
    expect(notifications.filter(({ incident }: { incident: object | null }) => incident !== null)).toEqual([]);
  });
});
