import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { withClient } from '../../installation/databases.ts';
import { dumpOf, linesWith } from '../systems/dump.ts';
import { running, runningSystem } from '../systems/running.ts';

const USERS = '/api/v1/settings/users';

describeWithServers('a workspace that is run through its API', () => {
  const system = runningSystem();
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

  test('forgets a person everywhere but in texts, which are listed', async () => {
    const [name, email] = ['Åsa "Å" Lind_%', 'Asa.Lind@Old.example'];
    const note = `Ask ${name}`;
    const owner = await system.as({ workspace: 'forgets', role: 'owner' });
    const key = { 'Idempotency-Key': 'once' };
    const started_at = '2024-03-02T18:20:00Z';
    const [author, by] = [
      { name: 'Åsa of old', email },
      { started_at, author: { name } },
    ];
    const item = {
      ...{ external: { source: 'old', id: '1', url: 'https://old.example/1' }, title: 'Imported', author },
      ...{
        status: 'closed',
        severity: 'sev2',
        created_at: started_at,
        people: { manager: author, responders: [{ name }] },
      },
      timeline: [{ ...by, external_id: 'e', type: 'note', body: note }],
      changelog: [{ changed_at: started_at, actor: author, changes: [{ field: 'impact_summary', from: '', to: 'x' }] }],
      follow_ups: [{ external_id: 'f', title: 'Do', created_at: started_at, author, owner: { name } }],
    };
    const imported = await owner.post('/api/v1/imports/incidents', { incidents: [item] });
    expect(imported.body.results).toMatchObject([{ outcome: 'created' }]);
    const [{ incident_id: importedId }] = imported.body.results;
    const { user } = (await owner.post(USERS, { email: 'before@old.example', name: 'Åsa Before' }, key)).body;
    const path = `${USERS}/${user.id}`;
    await owner.patch(path, { name, email, seat: 'responder' }, { 'If-Service-Resource-Version': '1' });
    const newKey = { name, scopes: ['incidents:write', 'incidents:read'], user_id: user.id };
    const { token } = (await owner.post('/api/v1/settings/api-keys', newKey)).body;
    const person = owner.with({ Authorization: `Bearer ${token}` });
    const { incident } = (await person.post('/api/v1/incidents', { title: 'Slow' }, key)).body;

    const rows: { service: string; table: string }[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page = await owner.get(`${path}/data${cursor && `?cursor=${cursor}`}`);
      expect(page).toMatchObject({ status: 200 });
      rows.push(...page.body.rows);
      cursor = page.body.pagination.next_cursor as string | undefined;
    }
    const exported = new Set(rows.map(({ service, table }) => `${service}.${table}`));
    for (const table of ['gateway.audit_log', 'catalog.replica_users', 'incident.follow_ups', 'webhook.feed_events'])
      expect(exported).toContain(table);
    expect(rows).toContainEqual({ service: 'gateway', table: 'users', row: expect.objectContaining({ name, email }) });

    await system.stopApp('catalog');
    const begun = await owner.post(`${path}/erase`, { confirmation: email });
    expect(begun.body.erasure).toMatchObject({ user_id: user.id, completed_at: null });
    const erasure = async () => (await owner.get(`${path}/erasure`)).body.erasure;
    await eventually(async () => (await erasure()).remaining[0] === 'catalog');
    await system.startApp('catalog');
    const { places } = await eventually(async () => {
      const state = await erasure();
      return state.completed_at !== null && state;
    });
    expect(places).toEqual([
      { kind: 'timeline_event', id: expect.any(String), incident_id: importedId, property: 'body' },
    ]);
    expect((await person.get('/api/v1/me')).status).toBe(401);
    expect((await owner.get(path)).body.user).toMatchObject({ name: `Former user ${user.id}`, active: false });
    const read = async (id: number) => (await owner.get(`/api/v1/incidents/${id}`)).body.incident;
    expect(await read(incident.id)).toMatchObject({ created_by: String(user.id) });
    expect(await read(importedId)).toMatchObject({ incident_manager: `Former user ${user.id}` });

    // What people wrote stays.
    const written = [note, JSON.stringify(note).slice(1, -1)].map((text) => text.toLowerCase());
    const dump = (await dumpOf(system)).map((line) =>
      written.reduce((shown, text) => shown.replaceAll(text, ''), line.toLowerCase()),
    );
    expect(linesWith(dump, 'slow')).not.toEqual([]);
    for (const text of [name, email, 'Åsa', 'Lind', 'before@old'])
      expect([text, linesWith(dump, text)]).toEqual([text, []]);
  });

  test('deletes an incident for good, also from the feed, whose cursors stay valid', async () => {
    const owner = await system.as({ workspace: 'deletes', role: 'owner' });
    const { incident } = (await owner.post('/api/v1/incidents', { title: 'Xylophone' })).body;
    await owner.post(`/api/v1/incidents/${incident.id}/timeline`, { body: 'Xylophone again' });
    await owner.post('/api/v1/incidents', { title: 'Other' });
    const feed = async (query: string) => (await owner.get(`/api/v1/events?${query}`)).body;
    await eventually(async () => (await feed('from=beginning')).events.length === 4);
    const { pagination } = await feed('from=beginning&limit=1');
    const deletion = { reason: 'A mistake', confirmation: incident.human_id };
    expect((await owner.post(`/api/v1/incidents/${incident.id}/delete`, deletion)).status).toBe(204);
    await eventually(async () => linesWith(await dumpOf(system), 'xylophone').length === 0, { what: 'emptied events' });
    const { events } = await feed(`after=${pagination.next_cursor}`);
    expect(events).toMatchObject([
      { type: 'incident.created', data: { incident: { title: 'Other' } } },
      { type: 'incident.deleted', data: { incident: { id: incident.id, reference: incident.human_id } } },
    ]);
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
