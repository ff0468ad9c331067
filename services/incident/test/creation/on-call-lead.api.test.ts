import { beforeEach, describe, expect, test } from '@jest/globals';
import { configure } from '../configure.ts';
import { aService, aTeam, aUser } from '../snapshots.ts';
import { serviceForFile } from '../service.ts';

const service = await serviceForFile();
const { owners } = service;
const INCIDENTS = '/api/v1/incidents';
const TEAM = 7;

beforeEach(() => {
  owners.down = false;
  owners.onCall.clear();
  owners.onCallQuestions = 0;
});

let workspaces = 81_000;

/** A workspace with a service of the team, for whom user 5 is on call; user 6 has left. */
async function prepare(setting: 'off' | 'suggest' | 'set' | undefined) {
  const id = (workspaces += 1);
  await owners.change(id, (data) => {
    data.users = [aUser(4), aUser(5), { ...aUser(6), active: false }];
    data.teams = [aTeam(TEAM)];
    data.services = [aService(3, { slug: 'checkout', owner_team_id: TEAM })];
  });
  if (setting !== undefined) await configure(service.knex, id, { on_call_lead: setting });
  owners.onCall.set(TEAM, 5);
  const client = service.as({ workspace: { id, version: 1 }, key_id: id });
  const declare = async (body: object, headers = {}, query = '') => {
    const answer = await client.post(`${INCIDENTS}${query}`, { title: 'x', ...body }, headers);
    expect(answer.status).toBe(201);
    return answer.body.incident;
  };
  return { id, client, declare };
}

describe('who is on call', () => {
  test.each([undefined, 'off', 'suggest'] as const)('leads nothing with the setting %j', async (setting) => {
    const { declare } = await prepare(setting);
    expect(await declare({ service: 'checkout' })).toMatchObject({ incident_manager: '', team_id: TEAM });
    expect(owners.onCallQuestions).toBe(0);
  });

  test('leads incidents of the team, and of its services', async () => {
    const { declare, client } = await prepare('set');
    expect(await declare({ service: 'checkout' })).toMatchObject({ incident_manager: '5' });
    expect(await declare({ team_id: TEAM })).toMatchObject({ incident_manager: '5' });
    expect(await declare({ service: 'checkout' }, {}, '?validate_only=true')).toMatchObject({ incident_manager: '5' });
    expect(await declare({ service: 'elsewhere' })).toMatchObject({ incident_manager: '' });
    expect((await client.get(INCIDENTS)).body.incidents).toHaveLength(3);
  });

  test('leads none that names somebody, or nobody', async () => {
    const { declare } = await prepare('set');
    for (const incident_manager of ['4', ''])
      expect(await declare({ service: 'checkout', incident_manager })).toMatchObject({ incident_manager });
    expect(owners.onCallQuestions).toBe(0);
  });

  test('stays the lead in the repeated answer of a create, when somebody else is', async () => {
    const { declare } = await prepare('set');
    const key = { 'Idempotency-Key': 'declare-once' };
    const first = await declare({ service: 'checkout' }, key);
    owners.onCall.set(TEAM, 4);
    expect(await declare({ service: 'checkout' }, key)).toEqual(first);
    expect(first).toMatchObject({ incident_manager: '5' });
  });

  test('leads what an alert declares', async () => {
    const { client } = await prepare('set');
    const alert = {
      ...{ status: 'firing', labels: { alertname: 'Errors', service: 'checkout' }, annotations: {} },
      ...{ startsAt: '2026-11-24T09:00:00Z', endsAt: '0001-01-01T00:00:00Z', fingerprint: 'f' },
    };
    const answer = await client.post('/api/v1/alerts/alertmanager', { version: '4', groupKey: 'g', alerts: [alert] });
    expect(answer.status).toBe(202);
    expect((await client.get(INCIDENTS)).body.incidents).toMatchObject([{ incident_manager: '5', team_id: TEAM }]);
  });

  // Last: calls to a service that is down fail at once for a while.
  test('leads none if nobody is, if that person has left, or if the catalog does not answer', async () => {
    const { declare } = await prepare('set');
    owners.onCall.clear();
    expect(await declare({ service: 'checkout' })).toMatchObject({ incident_manager: '' });
    owners.onCall.set(TEAM, 6);
    expect(await declare({ service: 'checkout' })).toMatchObject({ incident_manager: '' });
    owners.onCall.set(TEAM, 5);
    owners.down = true;
    expect(await declare({ service: 'checkout' })).toMatchObject({ incident_manager: '', team_id: TEAM });
  });
});
