import { beforeAll, expect, test } from '@jest/globals';
import { describeWithServers } from '@tocsin/testing/suites';
import { runHere } from './run-here.ts';
import { runningSystem, temporaryFolder } from '../../verification/systems/running.ts';

describeWithServers('resources by the names that people type', () => {
  const system = runningSystem(() => ({ settings: { DEFAULT_WORKSPACE: 'acme' } }));
  const folder = temporaryFolder();
  let token: string;
  beforeAll(async () => {
    ({ token } = await system.as());
  });

  const run = async (...args: string[]) =>
    runHere({ TOCSIN_CONFIG_DIR: folder.path, TOCSIN_URL: system.url, TOCSIN_TOKEN: token }, args);
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args);
    expect([args, code, stderr]).toEqual([args, 0, '']);
    return JSON.parse(stdout);
  };
  const refused = async (code: number, message: string | RegExp, ...args: string[]) => {
    const expected = { code, stdout: '', stderr: expect.stringMatching(message) };
    expect([args, await run(...args)]).toEqual([args, expected]);
  };

  test('teams, services and fields by slug or name, archived ones too, and IDs before all', async () => {
    const { team: parent } = await json('teams', 'create', '--name', 'Platform');
    const { team } = await json('teams', 'create', '--name', 'Payments & Risk', '--parent-team', 'platform');
    expect(team).toMatchObject({ slug: 'payments_risk', parent_team_id: parent.id });
    // Its name is the ID of another one.
    await json('teams', 'create', '--name', String(parent.id), '--slug', 'number');
    expect((await json('teams', 'get', String(parent.id))).team.slug).toBe('platform');
    expect((await json('teams', 'get', 'Payments & Risk')).team.id).toBe(team.id);

    const { service } = await json('services', 'create', '--name', 'Kasse', '--owner-team', 'payments_risk');
    expect(service.owner_team_id).toBe(team.id);
    const moved = await json('services', 'update', 'kasse', '--owner-team', 'Platform', '--description', 'Till');
    expect(moved.service).toMatchObject({ id: service.id, owner_team_id: parent.id });
    const cleared = await json('services', 'update', 'kasse', '--owner-team', 'null');
    expect(cleared.service.owner_team_id).toBeUndefined();
    await json('services', 'archive', 'kasse');
    expect((await json('services', 'restore', 'Kasse')).service.archived_at).toBeUndefined();
    await json('services', 'create', '--name', 'Ärger'.normalize('NFC'), '--slug', 'ärger'.normalize('NFC'));
    expect((await json('services', 'get', 'ärger'.normalize('NFD'))).service.name).toBe('Ärger'.normalize('NFC'));
    expect(await json('services', 'list', '--owner-team', 'platform')).toEqual([]);

    await json('fields', 'create', '--name', 'Detected by', '--field-type', 'string');
    expect((await json('fields', 'archive', 'detected_by')).field.slug).toBe('detected_by');
    expect((await json('fields', 'restore', 'Detected by')).field.archived_at).toBeUndefined();
  });

  test('users by email or name, as arguments and in flags', async () => {
    const { user } = await json('users', 'create', '--email', 'ana@acme.example', '--name', 'Ana Lima');
    await json('users', 'create', '--email', 'banana@acme.example', '--name', 'Ana Limal');
    expect((await json('users', 'get', 'ANA@acme.example')).user.id).toBe(user.id);
    expect((await json('users', 'update', 'Ana Lima', '--seat', 'responder')).user).toMatchObject({ id: user.id });
    await json('teams', 'create', '--name', 'On call');
    await json('teams', 'add-member', 'on_call', '--user', 'ana@acme.example');
    const { member } = await json('teams', 'update-member', 'on_call', 'ana@acme.example', '--role', 'lead');
    expect(member).toMatchObject({ user_id: user.id, role: 'lead' });
    const { code } = await run('teams', 'remove-member', 'on_call', 'Ana Lima');
    expect(code).toBe(0);
    expect(await json('teams', 'list-members', 'on_call')).toEqual([]);

    const named = ['--incident-manager', 'ana@acme.example', '--team', 'on_call'];
    const { incident } = await json('incidents', 'declare', '--title', 'Named', ...named);
    expect(incident.incident_manager).toBe(String(user.id));
    const { human_id: reference } = incident;
    const responders = ['--incident-responders', 'Ana Lima', '--incident-responders', 'banana@acme.example'];
    const changed = await json('incidents', 'update', reference.toLowerCase(), '--incident-manager', '', ...responders);
    expect(changed.incident.incident_manager).toBe('');
    expect(changed.incident.incident_responders).toContain(String(user.id));
    expect(await json('incidents', 'list', '--team', 'On call', '--quiet')).toBe(incident.id);
    const events = await json('events', 'list', '--from', 'beginning', '--resource', `incident:${reference}`);
    expect(events.events.map(({ type }: { type: string }) => type)).toContain('incident.created');

    const { incident: other } = await json('incidents', 'declare', '--title', 'Other');
    const duplicate = ['--type', 'duplicate_of', '--incident', other.human_id.toLowerCase()];
    const { relation } = await json('incidents', 'relate', reference, ...duplicate);
    expect(await json('incidents', 'relations', other.human_id)).toMatchObject([
      { id: relation.id, type: 'duplicated_by', incident: { human_id: reference } },
    ]);
    expect((await run('incidents', 'unrelate', reference, String(relation.id))).code).toBe(0);
    expect(await json('incidents', 'relations', reference)).toEqual([]);
    const { follow_up: followUp } = await json('follow-ups', 'add', reference, '--title', 'x', '--owner', 'Ana Lima');
    expect(followUp).toMatchObject({ incident_id: incident.id, owner: String(user.id) });
    const mine = ['--owner', 'ana@acme.example', '--incident', reference, '--quiet'];
    expect(await json('follow-ups', 'list', ...mine)).toBe(followUp.id);
  });

  test('webhooks and keys by name; those that have ended do not count beside others', async () => {
    const hook = ['webhooks', 'create', '--url', 'https://hooks.acme.example/x', '--name', 'Ops'];
    const { webhook: first } = await json(...hook);
    expect((await json('webhooks', 'revoke', 'Ops')).webhook.id).toBe(first.id);
    const { webhook: second } = await json(...hook);
    expect((await json('webhooks', 'pause', 'Ops')).webhook.id).toBe(second.id);
    expect((await json('webhooks', 'pause', second.id)).webhook.id).toBe(second.id);
    const { api_key: key } = await json('keys', 'create', '--name', 'Status page', '--scopes', 'incidents:read');
    const { api_key: rotated } = await json('keys', 'rotate', 'Status page');
    expect((await json('keys', 'get', 'Status page')).api_key.id).toBe(rotated.id);
    expect((await json('keys', 'get', key.prefix)).api_key.id).toBe(key.id);
  });

  test('ambiguous and unknown ones name the argument', async () => {
    const ids = [];
    for (const slug of ['twin_a', 'twin_b'])
      ids.push((await json('services', 'create', '--name', 'Twin', '--slug', slug)).service.id);
    const candidates = `<id>: several services have the name Twin: ${ids[0]} \\(twin_a\\), ${ids[1]} \\(twin_b\\)\n$`;
    await refused(2, candidates, 'services', 'get', 'Twin');
    await refused(1, /^error: <id>: there is no service twn \(by ID, slug or name\)\n$/, 'services', 'archive', 'twn');
    await refused(1, '<id>: there is no incident INC-999', 'incidents', 'get', 'INC-999');
    await refused(1, '<id>: there is no incident payments', 'timeline', 'add', 'payments', '--body', 'x');
    await refused(1, '<user-id>: there is no user eve', 'teams', 'update-member', 'on_call', 'eve', '--role', 'lead');
    await refused(1, '--owner-team: there is no team nobody', 'services', 'list', '--owner-team', 'nobody');
    await refused(2, '--owner-team-id: nobody is not of the type', 'services', 'list', '--owner-team-id', 'nobody');
    await refused(2, '--team: is the same as --team-id', 'incidents', 'list', '--team', 'on_call', '--team-id', '1');
    await refused(2, '<id>: is empty', 'teams', 'get', ' ');
    await refused(1, '--resource: there is no team nobody', 'events', 'tail', '--resource', 'team:nobody');
  });

  test('the parameters of the query beside a body', async () => {
    const alert = ['--id', 'disk', '--title', 'The disk is full'];
    const options = ['--on-end', 'resolve', '--query-service', 'storage'];
    await json('alerts', 'send', ...alert, '--status', 'firing', ...options);
    const [incident] = await json('incidents', 'list', '--q', 'The disk is full');
    expect(incident.service).toBe('storage');
    await json('alerts', 'send', ...alert, '--status', 'resolved', ...options);
    expect((await json('incidents', 'get', incident.human_id)).incident.status).toBe('resolved');
    const azure = { schemaId: 'azureMonitorCommonAlertSchema', data: { essentials: {} } };
    await refused(1, /^error: data\.essentials\./, 'alerts', 'send-azure', '--data', JSON.stringify(azure));
    await refused(
      1,
      /^error: new_incidents: /,
      'alerts',
      'send',
      ...alert,
      '--status',
      'firing',
      '--new-incidents',
      '0',
    );
  });
});
