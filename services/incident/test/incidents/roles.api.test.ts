import { describe, expect, test } from '@jest/globals';
import { eventually, refusal } from '@tocsin/testing';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';
import { aUser } from '../snapshots.ts';
import { anItem, transferOf } from '../transfer/transfer.ts';

const INCIDENTS = '/api/v1/incidents';
const SETTINGS = '/api/v1/settings/configuration';
const ROLES = [
  { key: 'communications', label: ' Communications ', description: 'Writes to customers' },
  { key: 'scribe', label: 'Scribe', several_holders: true },
];

const broker = new RecordingBroker();
const service = await serviceForFile({ broker });
let workspaces = 100;

/** A workspace with the two roles and the users 42 (Ana), 43 (Ben) and 44 (Cy). */
async function roleWorkspace(more: readonly object[] = []) {
  const id = (workspaces += 1);
  const users = [aUser(42, 'Ana'), aUser(43, 'Ben'), aUser(44, 'Cy')];
  const version = await service.owners.change(id, (data) => void (data.users = users));
  let changes = 0;
  const client = () => service.as({ workspace: { id, slug: `w${id}`, version: version + changes } });
  const configure = async (incident_roles: readonly object[]) => {
    const { configuration } = (await client().get(SETTINGS)).body;
    const headers = { 'If-Service-Resource-Version': String(configuration.revision) };
    const answer = await client().put(SETTINGS, { incident_roles }, headers);
    changes += 1;
    return answer;
  };
  expect((await configure([...ROLES, ...more])).status).toBe(200);
  const get = async (path: string) => (await client().get(path)).body.incident;
  return {
    ...{ id, users, client, configure, get },
    /** Returns the path of a new incident. */
    declare: async (roles: object = {}) => {
      const { status, body, text } = await client().post(INCIDENTS, { title: 'x', roles });
      expect([status, text]).toEqual([201, text]);
      return `${INCIDENTS}/${body.incident.id}`;
    },
    patch: async (path: string, roles: object) => {
      const { revision } = await get(path);
      return client().patch(path, { roles }, { 'If-Service-Resource-Version': String(revision) });
    },
  };
}

const refused = (field: string, message: string) =>
  refusal(400, 'invalid_request', { field, message: expect.stringContaining(message) });

describe('the roles of a workspace', () => {
  test('are none until they are configured, and are replaced as a list', async () => {
    const other = service.as({ workspace: { id: 99 } });
    expect((await other.get('/api/v1/configuration/incident-roles')).body).toEqual({ incident_roles: [] });
    const { client, configure } = await roleWorkspace();
    const configured = [
      { key: 'communications', label: 'Communications', description: 'Writes to customers', several_holders: false },
      { key: 'scribe', label: 'Scribe', description: '', several_holders: true },
    ];
    expect((await client().get('/api/v1/configuration/incident-roles')).body.incident_roles).toEqual(configured);
    expect((await client().get(SETTINGS)).body.configuration).toMatchObject({
      ...{ revision: 2, incident_roles: configured },
    });
    expect(await configure([ROLES[0]!, ROLES[0]!])).toMatchObject(refused('incident_roles.1.key', 'is a duplicate'));
    const many = Array.from({ length: 21 }, (_, index) => ({ key: `r${index}`, label: 'x' }));
    expect(await configure(many)).toMatchObject(refused('incident_roles', 'Must have at most 20 items'));
  });
});

describe('the holders of a role', () => {
  test('are set and cleared by role, in changelog and events, too', async () => {
    const { client, declare, patch, get } = await roleWorkspace();
    const path = await declare({ communications: ['42'], scribe: [] });
    expect((await get(path)).roles).toEqual({ communications: ['42'] });
    expect((await patch(path, { scribe: ['43', '44', '43'] })).body.incident).toMatchObject({
      ...{ revision: 2, roles: { communications: ['42'], scribe: ['43', '44'] }, has_assignees: false },
    });
    // Nothing else.
    expect((await patch(path, { scribe: ['43', '44'] })).body.incident.revision).toBe(2);
    const { incident } = (await patch(path, { communications: [], scribe: ['44'] })).body;
    expect([incident.revision, incident.roles]).toEqual([3, { scribe: ['44'] }]);
    const changes = [
      { field: 'roles.communications', from: ['42'], to: [] },
      { field: 'roles.scribe', from: ['43', '44'], to: ['44'] },
    ];
    const { changelog } = (await client().get(`${path}/changelog`)).body;
    expect(changelog).toMatchObject([
      { changes },
      { changes: [{ field: 'roles.scribe', from: [], to: ['43', '44'] }] },
    ]);
    const event = await eventually(() =>
      broker.published.find(({ data }) => data.incident?.id === incident.id && data.incident.revision === 3),
    );
    expect(event.data).toMatchObject({ changes, incident: { roles: { scribe: ['44'] } } });
    const states = [1, 2, 3].map(async (revision) => get(`${path}?at_revision=${revision}`));
    expect((await Promise.all(states)).map(({ roles }) => roles)).toEqual([
      { communications: ['42'] },
      { communications: ['42'], scribe: ['43', '44'] },
      { scribe: ['44'] },
    ]);
  });

  test('must be users who are active, of a role that there is, and as many as it has', async () => {
    const { id, client, declare, patch, users } = await roleWorkspace();
    const path = await declare({ scribe: ['44'] });
    const others = Array.from({ length: 21 }, (_, index) => String(index + 1));
    const cases = [
      [{ constructor: ['42'] }, 'roles.constructor', 'Must be one of communications, scribe'],
      [{ constructor: [] }, 'roles.constructor', 'Must be one of communications, scribe'],
      [{ communications: ['42', '43'] }, 'roles.communications', 'Must have one holder at most'],
      [{ scribe: ['44', '45'] }, 'roles.scribe.1', 'Must be an active user of the workspace'],
      [{ scribe: ['Ana'] }, 'roles.scribe.0', "Must be a user's ID"],
      [{ communications: [''] }, 'roles.communications.0', "Must be a user's ID"],
      [{ scribe: others }, 'roles.scribe', 'Must have at most 20 items'],
      [{ scribe: '42' }, 'roles.scribe', 'Must be an array'],
      [Object.fromEntries(others.map((key) => [key, []])), 'roles', 'Must have at most 20 properties'],
    ] as const;
    for (const [roles, field, message] of cases) {
      expect(await patch(path, roles)).toMatchObject(refused(field, message));
      if ('constructor' in roles && Object.hasOwn(roles, 'constructor') && roles.constructor.length === 0) continue;
      expect(await client().post(INCIDENTS, { title: 'x', roles })).toMatchObject(refused(field, message));
    }
    const none = service.as({ workspace: { id: 99 } });
    expect(await none.post(INCIDENTS, { title: 'x', roles: { scribe: ['42'] } })).toMatchObject(
      refused('roles.scribe', 'roles: it has none'),
    );
    // Cy has left, and may stay the scribe, but not become anything.
    const version = await service.owners.change(id, (data) => {
      data.users = users.map((user) => ({ ...user, active: user.id !== 44 }));
    });
    const later = service.as({ workspace: { id, slug: `w${id}`, version } });
    const change = async (roles: object) => later.patch(path, { roles }, { 'If-Service-Resource-Version': '1' });
    expect(await change({ communications: ['44'] })).toMatchObject(
      refused('roles.communications.0', 'Must be an active user'),
    );
    expect((await change({ scribe: ['42', '44'] })).body.incident.roles).toEqual({ scribe: ['42', '44'] });
  });

  test('stay when the configuration removes the role or lets it have one holder, and can be cleared', async () => {
    const { configure, declare, patch, get } = await roleWorkspace();
    const path = await declare({ communications: ['42'], scribe: ['42', '43'] });
    expect((await configure([{ key: 'scribe', label: 'Scribe' }])).status).toBe(200);
    expect((await get(path)).roles).toEqual({ communications: ['42'], scribe: ['42', '43'] });
    expect((await patch(path, { communications: ['42'], scribe: ['42', '43'] })).body.incident.revision).toBe(1);
    expect(await patch(path, { scribe: ['43', '44'] })).toMatchObject(refused('roles.scribe', 'Must have one holder'));
    expect(await patch(path, { communications: ['43'] })).toMatchObject(
      refused('roles.communications', 'Must be one of scribe'),
    );
    expect((await patch(path, { communications: [], scribe: ['43'] })).body.incident.roles).toEqual({ scribe: ['43'] });
    expect(await patch(path, { communications: [] })).toMatchObject(refused('roles.communications', 'Must be one of'));
  });

  test('of one incident are of at most 20 roles, removed ones included', async () => {
    const many = Array.from({ length: 18 }, (_, index) => ({ key: `r${index}`, label: 'x' }));
    const { configure, declare, patch } = await roleWorkspace(many);
    const path = await declare({
      ...{ communications: ['42'], scribe: ['42'] },
      ...Object.fromEntries(many.map(({ key }) => [key, ['42']])),
    });
    await configure([{ key: 'new', label: 'New' }]);
    expect(await patch(path, { new: ['42'] })).toMatchObject(refused('roles', 'Must have at most 20 roles'));
    expect((await patch(path, { new: ['42'], r0: [] })).status).toBe(200);
  });

  test('are filters of lists, active and archived', async () => {
    const { client, declare, patch } = await roleWorkspace();
    const paths = [
      await declare({ communications: ['42'] }),
      await declare({ communications: ['43'], scribe: ['42'] }),
      await declare({ scribe: ['43', '42'] }),
      await declare(),
    ];
    const listed = async (query: string, list = INCIDENTS) => {
      const { incidents } = (await client().get(`${list}?direction=asc&${query}`)).body;
      return incidents.map(({ id }: { id: number }) => paths.indexOf(`${INCIDENTS}/${id}`));
    };
    expect(await listed('role=communications')).toEqual([0, 1]);
    expect(await listed('role=communications:42')).toEqual([0]);
    expect(await listed('role=communications:43&role=scribe:43')).toEqual([1, 2]);
    expect(await listed('role=scribe&status=closed')).toEqual([]);
    expect(await listed('role=other&role=scribe:44')).toEqual([]);
    await patch(paths[0]!, { communications: ['44'] });
    await patch(paths[2]!, { scribe: [] });
    expect(await listed('role=communications:44&role=scribe')).toEqual([0, 1]);
    await client().post(`${paths[1]}/archive`);
    expect(await listed('role=scribe')).toEqual([]);
    expect(await listed('role=scribe:42', `${INCIDENTS}/archived`)).toEqual([1]);
    const { buckets } = (await client().get(`${INCIDENTS}/statistics?role=communications`)).body.statistics;
    expect(buckets.reduce((sum: number, { incidents }: { incidents: number }) => sum + incidents, 0)).toBe(1);
    for (const role of ['Scribe', 'scribe:', 'scribe:x', ':42'])
      expect(await client().get(`${INCIDENTS}?role=${role}`)).toMatchObject(refused('role', 'Must be the key'));
  });

  test('move to another workspace by name, removed roles included', async () => {
    const source = await roleWorkspace();
    await source.declare({ communications: ['42'], scribe: ['43', '42'] });
    await source.configure([]);
    const [line] = await transferOf(source.client()).exported();
    const [ana, ben] = [{ name: 'Ana' }, { name: 'Ben' }].map(expect.objectContaining);
    expect(line).toMatchObject({ people: { roles: { communications: [ana], scribe: [ben, ana] } } });

    const { client, get } = await roleWorkspace();
    const { results } = transferOf(client());
    const eve = { name: 'Eve' };
    const people = { roles: { communications: [{ name: 'Ana', email: 'ana@acme.example' }], old: [eve, eve] } };
    const [{ incident_id: id }] = await results(anItem('1', { people }));
    expect((await get(`${INCIDENTS}/${id}`)).roles).toEqual({ communications: ['42'], old: ['Eve'] });
    const more = { roles: { old: [], scribe: [eve] } };
    expect(await results(anItem('1', { people: more }))).toMatchObject([{ outcome: 'updated', revision: 2 }]);
    expect(await results(anItem('1', { people: more }))).toMatchObject([{ outcome: 'unchanged', revision: 2 }]);
    expect((await get(`${INCIDENTS}/${id}`)).roles).toEqual({ communications: ['42'], scribe: ['Eve'] });
    const key = { people: { roles: { 'No key': [eve] } } };
    expect(await results(anItem('2', key))).toMatchObject([{ outcome: 'refused', field: 'people.roles.No key' }]);
  });

  test('are named in the post-mortem', async () => {
    const { client, declare, patch } = await roleWorkspace();
    const path = await declare({ communications: ['42'] });
    await patch(path, { scribe: ['43'] });
    const { postmortem } = (await client().get(`${path}/postmortem`)).body;
    expect(postmortem.people).toMatchObject([
      { role: 'role_holder', label: 'Scribe', person: { id: 43, name: 'Ben' } },
      { role: 'role_holder', label: 'Communications', person: { id: 42, name: 'Ana' } },
      { role: 'declared_by' },
    ]);
    expect(postmortem.activity).toMatchObject([
      { changes: [{ field: 'roles.scribe', label: 'Scribe', from: 'none', to: 'Ben' }] },
    ]);
    const { text } = await client().get(`${path}/postmortem`, { Accept: 'text/markdown' });
    expect(text).toContain('| Communications | Ana |');
  });
});
