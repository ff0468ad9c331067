import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { withClient } from '../../installation/databases.ts';
import { BUSY_MACHINE } from '../systems/local-harness.ts';
import { running, runningSystem } from '../systems/running.ts';

const USERS = '/api/v1/settings/users';

describeWithServers('a workspace that is run through its API', () => {
  const system = runningSystem(() => ({ settings: BUSY_MACHINE }));
  const client = running(async () => system.as({ role: 'owner' }));

  test('invites a user, who is at once known to all services, and no longer when deactivated', async () => {
    const created = await client.post(USERS, { email: 'ana@acme.example', name: 'Ana', seat: 'responder' });
    const { id } = created.body.user as { id: number };
    const { body: key } = await client.post('/api/v1/settings/api-keys', {
      name: 'of Ana',
      scopes: ['incidents:read', 'incidents:write'],
      user_id: id,
    });
    const ana = client.with({ Authorization: `Bearer ${key.token}` });
    const managed = { title: 'Managed', incident_manager: String(id) };
    expect((await ana.post('/api/v1/incidents', managed)).status).toBe(201);
    expect((await ana.get('/api/v1/teams')).body.code).toBe('missing_scope');

    const revision = { 'If-Service-Resource-Version': '1' };
    expect((await client.patch(`${USERS}/${id}`, { active: false }, revision)).status).toBe(200);
    expect((await ana.get('/api/v1/incidents')).status).toBe(401);
    expect((await client.post('/api/v1/incidents', managed)).body.field).toBe('incident_manager');
  });

  test('finds the changes of all services in one audit log', async () => {
    const receiver = { url: 'https://hooks.acme.example/tocsin', headers: { 'X-Key': 'one' } };
    const { webhook } = (await client.post('/api/v1/settings/webhooks', receiver)).body;
    await client.put(`/api/v1/settings/webhooks/${webhook.id}/headers`, { headers: { Authorization: 'two' } });
    const { configuration } = (await client.get('/api/v1/settings/configuration')).body;
    const severities = configuration.severities.map((each: object) => ({ ...each, label: 'Renamed' }));
    const revision = { 'If-Service-Resource-Version': String(configuration.revision) };
    const replaced = await client.put('/api/v1/settings/configuration', { severities }, revision);
    expect(replaced.status).toBe(200);
    const entryOf = async (action: string) =>
      eventually(async () => {
        const { entries } = (await client.get(`/api/v1/settings/audit-log?action=${action}`)).body;
        return (entries as { before: unknown; after: unknown; actor: { type: string } }[])[0];
      });
    expect(await entryOf('webhook.created')).toMatchObject({
      actor: { type: 'user', user_id: expect.any(Number), api_key_prefix: expect.any(String) },
      before: null,
      after: { url: 'https://hooks.acme.example', status: 'paused' },
    });
    expect(await entryOf('webhook.headers_replaced')).toMatchObject({
      before: { header_names: ['X-Key'] },
      after: { header_names: ['Authorization'] },
    });
    expect(await entryOf('configuration.replaced')).toMatchObject({
      before: { severities: configuration.severities },
      after: { severities: replaced.body.configuration.severities },
    });
  });

  test('finds in the changelog of an incident which key changed it, by its name at that time', async () => {
    const keys = '/api/v1/settings/api-keys';
    const made = (await client.post(keys, { name: 'Bot', scopes: ['incidents:read', 'incidents:write'] })).body;
    const bot = client.with({ Authorization: `Bearer ${made.token}` });
    const { incident } = (await bot.post('/api/v1/incidents', { title: 'Slow' })).body;
    const path = `/api/v1/incidents/${incident.id}`;
    await bot.post(`${path}/resolve`, {});
    const revision = { 'If-Service-Resource-Version': '1' };
    expect((await client.patch(`${keys}/${made.api_key.id}`, { name: 'Robot' }, revision)).status).toBe(200);
    await bot.post(`${path}/reopen`, {});
    await client.post(`${keys}/${made.api_key.id}/revoke`, {});
    const { changelog } = (await client.get(`${path}/changelog`)).body;
    const { prefix } = made.api_key;
    expect(changelog).toMatchObject([{ api_key: { name: 'Robot', prefix } }, { api_key: { name: 'Bot', prefix } }]);
  });

  test('tells a client that lost its response what became of its key', async () => {
    const clients = { workspace: 'keys', role: 'owner' } as const;
    const mine = await system.as(clients);
    const lookUp = async (key: string, query = '', as = mine) => as.get(`/api/v1/idempotency-keys/${key}${query}`);
    expect((await lookUp('lost')).status).toBe(404);
    const key = { 'Idempotency-Key': 'lost' };
    const { incident } = (await mine.post('/api/v1/incidents', { title: 'Lost' }, key)).body;
    const found = await lookUp('lost');
    expect(found.body).toEqual({
      idempotency_key: {
        ...{ key: 'lost', state: 'completed', operation: 'createIncident', status: 201 },
        resource_path: `/api/v1/incidents/${incident.id}`,
        ...{ created_at: expect.any(String), expires_at: expect.any(String) },
      },
    });
    await mine.post('/api/v1/teams', { name: 'Lost' }, key);
    expect((await lookUp('lost')).body.idempotency_key).toMatchObject({ operation: 'createTeam', status: 201 });
    expect((await lookUp('lost', '?operation=createIncident')).body).toEqual(found.body);

    await mine.post('/api/v1/teams', { name: 'Other', slug: 'lost' }, { 'Idempotency-Key': 'refused' });
    expect((await lookUp('refused')).body.idempotency_key).toMatchObject({ status: 409, resource_path: null });
    const other = await system.as(clients);
    expect((await lookUp('lost', '', other)).status).toBe(404);
  });

  test('sees that a create with a key is in progress', async () => {
    const mine = await system.as({ workspace: 'keys', role: 'owner' });
    const lookUp = async () => (await mine.get('/api/v1/idempotency-keys/slow')).body.idempotency_key;
    const create = await withClient(system.database.adminUrl, async (blocker) => {
      await blocker.query('begin; select workspace_id from incident.incident_counters for update');
      const slow = mine.post('/api/v1/incidents', { title: 'Slow' }, { 'Idempotency-Key': 'slow' });
      const claimed = { state: 'in_progress', operation: 'createIncident', status: null, resource_path: null };
      expect(await eventually(async () => lookUp())).toMatchObject(claimed);
      await blocker.query('rollback');
      return slow;
    });
    const { incident } = create.body;
    expect(await lookUp()).toMatchObject({ state: 'completed', resource_path: `/api/v1/incidents/${incident.id}` });
  });

  test('knows what is used of its quotas, and says null while a service is away', async () => {
    await client.post('/api/v1/teams', { name: 'Payments' });
    await client.post('/api/v1/services', { name: 'Checkout' });
    await client.post('/api/v1/custom-fields', { name: 'Cause', field_type: 'string' });
    const used = async () => {
      const { body } = await client.get('/api/v1/me');
      const quotas = body.quotas as { name: string; used: number | null }[];
      return Object.fromEntries(quotas.map((quota) => [quota.name, quota.used]));
    };
    expect(await used()).toEqual({
      ...{ teams: 1, services: 1, custom_fields: 1, incidents: 2 },
      ...{ timeline_events: null, storage_mb: expect.any(Number), users: 1, api_keys: 2 },
    });
    await system.stopApp('catalog');
    await eventually(async () => (await used())['teams'] === null);
    expect(await used()).toMatchObject({ services: null, custom_fields: 1 });
  });
});
