import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { QUEUES, SCOPES } from '@tocsin/schemas';
import { eventually, httpClient, TEST_SECRET_KEYS } from '@tocsin/testing';
import { startGatewayHarness } from '../gateway-harness.ts';
import { beginSession, clientOf, memberOf, USERS } from '../members.ts';
import { startProvider, visitProvider, CLIENT } from '../sign-in/oidc-provider.ts';

const CALLBACK = '/app/oidc/callback';
const provider = await startProvider([`http://acme.localhost${CALLBACK}`]);
const gateway = await startGatewayHarness({
  env: {
    WEBHOOK_TEST_RECEIVERS: `localhost:${provider.port}`,
    ...{ RATE_LIMIT_PER_MINUTE: '100000', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '100000' },
  },
  overrides: { ca: provider.ca, identityAges: { version: 0, entry: 0 } },
});
// Without them, the events of users stay in the outbox, before those of the audit log.
for (const queue of [QUEUES.catalogReplicas, QUEUES.incidentReplicas])
  gateway.broker.subscribe(queue, async () => 'ack');
await gateway.admin.createWorkspace({ slug: 'other', name: 'Other' });
const owner = await memberOf(gateway, { role: 'owner', seat: 'responder' });
const other = await memberOf(gateway, { role: 'owner', workspace: 'other' });
afterAll(async () => {
  await gateway.close();
  await provider.stop();
});

const CORE = 'urn:ietf:params:scim:schemas:core:2.0';
const MESSAGES = 'urn:ietf:params:scim:api:messages:2.0';
const SCIM = { 'Content-Type': 'application/scim+json' };
const clientFor = (token: string, workspace = 'acme') => {
  const client = clientOf(gateway, token, workspace);
  return {
    get: async (path: string) => client.get(`/scim/v2${path}`),
    post: async (path: string, body: unknown) => client.post(`/scim/v2${path}`, body, SCIM),
    put: async (path: string, body: unknown) => client.put(`/scim/v2${path}`, body, SCIM),
    patch: async (path: string, ...operations: unknown[]) =>
      client.patch(`/scim/v2${path}`, { schemas: [`${MESSAGES}:PatchOp`], Operations: operations }, SCIM),
    delete: async (path: string) => client.delete(`/scim/v2${path}`),
  };
};
const { token } = await gateway.admin.createKey({
  ...{ workspace: 'acme', user: owner.user.email, name: 'directory', scopes: ['users:manage'] },
});
const scim = clientFor(token);
const connect = async () =>
  gateway.admin.connectOidc({
    ...{ workspace: 'acme', issuer: provider.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret },
    ...{ createsViewers: false, trustsEmail: false, secretKeys: TEST_SECRET_KEYS },
    groups: {
      ...{ claim: 'groups', scope: null, seats: ['On-call'] },
      roles: [
        { group: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159', role: 'manager' },
        { group: 'On-call', role: 'member' },
        { group: 'Owners', role: 'owner' },
      ],
    },
  });

const scimError = (status: number, scimType?: string) => ({
  status,
  body: {
    schemas: [`${MESSAGES}:Error`],
    status: String(status),
    ...(scimType !== undefined && { scimType }),
    detail: expect.any(String),
  },
});
const filtered = (filter: string, more = '') => `?filter=${encodeURIComponent(filter)}${more}`;
let users = 0;
const newUser = async (changes: object = {}) => {
  users += 1;
  const address = `person-${users}@acme.example`;
  const { status, body } = await scim.post('/Users', {
    ...{ schemas: [`${CORE}:User`], userName: address, displayName: `Person ${users}`, active: true },
    ...changes,
  });
  expect(status).toBe(201);
  return body as { id: string; userName: string; meta: { location: string } };
};
const apiUser = async (id: string) => (await owner.client.get(`${USERS}/${id}`)).body.user;

test('says what it can do', async () => {
  const config = (await scim.get('/ServiceProviderConfig')).body;
  expect(config).toMatchObject({
    ...{ patch: { supported: true }, bulk: { supported: false }, filter: { supported: true, maxResults: 100 } },
    authenticationSchemes: [{ type: 'oauthbearertoken' }],
  });
  const types = (await scim.get('/ResourceTypes')).body.Resources as { endpoint: string }[];
  expect(types.map(({ endpoint }) => endpoint)).toEqual(['/Users', '/Groups']);
  const schema = (await scim.get(`/Schemas/${CORE}:User`)).body;
  expect(schema.attributes.map(({ name }: { name: string }) => name)).toEqual([
    ...['userName', 'name', 'displayName', 'active', 'emails'],
  ]);
});

describe('Entra ID', () => {
  const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

  test('provisions a person whose user name is not their address', async () => {
    expect((await scim.get(`/Users${filtered('userName eq "Test_User_dfeef4c5"')}`)).body).toEqual({
      ...{ schemas: [`${MESSAGES}:ListResponse`], totalResults: 0, Resources: [], startIndex: 1, itemsPerPage: 0 },
    });
    const { status, headers, body } = await scim.post('/Users', {
      schemas: [`${CORE}:User`, enterprise],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      ...{ userName: 'Test_User_ab6490ee', active: true, meta: { resourceType: 'User' }, roles: [] },
      emails: [{ primary: true, type: 'work', value: 'entra@acme.example' }],
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      [enterprise]: { department: 'Operations' },
    });
    const location = expect.stringMatching(new RegExp(`^http://.*acme.localhost:?\\d*/scim/v2/Users/${body.id}$`));
    expect([status, headers.get('content-type'), headers.get('location')]).toEqual([
      ...[201, 'application/scim+json; charset=utf-8', location],
    ]);
    const person = {
      ...{
        schemas: [`${CORE}:User`],
        id: expect.stringMatching(/^\d+$/),
        userName: 'Test_User_ab6490ee',
        active: true,
      },
      ...{ externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef', displayName: 'givenName familyName' },
      name: { formatted: 'givenName familyName' },
      emails: [{ primary: true, type: 'work', value: 'entra@acme.example' }],
      meta: { resourceType: 'User', created: expect.any(String), lastModified: expect.any(String), location },
    };
    expect(body).toEqual(person);
    expect(await apiUser(body.id)).toMatchObject({
      ...{ email: 'entra@acme.example', name: 'givenName familyName', role: 'viewer', seat: 'none', active: true },
    });
    for (const filter of [
      'userName eq "TEST_user_ab6490ee"',
      'externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"',
      'emails[type eq "work"].value eq "Entra@acme.example" and active eq true',
      `id eq "${body.id}"`,
    ])
      expect((await scim.get(`/Users${filtered(filter)}`)).body).toMatchObject({
        totalResults: 1,
        Resources: [person],
      });
  });

  test('changes and disables people in its own forms of PATCH', async () => {
    const { id } = await newUser();
    const changed = await scim.patch(
      `/Users/${id}`,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@acme.example' },
      { op: 'Replace', path: 'displayName', value: 'Updated' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' },
      { op: 'Add', path: 'roles[primary eq "True"].value', value: 'User' },
      { op: 'Add', path: `${enterprise}:department`, value: 'Operations' },
      { op: 'Replace', path: `${CORE}:User:externalId`, value: 'entra-1' },
    );
    expect([changed.status, changed.body.emails]).toEqual([
      ...[200, [{ primary: true, type: 'work', value: 'updated@acme.example' }]],
    ]);
    expect(changed.body).toMatchObject({ displayName: 'Updated', externalId: 'entra-1' });
    const named = { op: 'Replace', path: 'userName', value: '5b50642d@contoso.example' };
    expect((await scim.patch(`/Users/${id}`, named)).body.userName).toBe('5b50642d@contoso.example');
    expect((await apiUser(id)).email).toBe('updated@acme.example');
    const disable = { op: 'Replace', path: 'active', value: 'False' };
    expect((await scim.patch(`/Users/${id}`, disable)).body.active).toBe(false);
    expect((await scim.patch(`/Users/${id}`, disable)).status).toBe(204);
    const enable = { op: 'Add', value: { active: 'True', 'name.givenName': 'x', [`${enterprise}:manager`]: '1' } };
    expect((await scim.patch(`/Users/${id}`, enable)).body.active).toBe(true);
    expect((await scim.patch(`/Users/${id}`, { op: 'Add', path: 'title', value: 'x' })).status).toBe(204);
  });

  test('manages groups and their members', async () => {
    const [one, two] = [await newUser(), await newUser()];
    const { status, body } = await scim.post('/Groups', {
      schemas: [`${CORE}:Group`, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      ...{ externalId: 'group-of-entra', displayName: 'Entra', meta: { resourceType: 'Group' } },
    });
    expect([status, body.displayName, body.members]).toEqual([201, 'Entra', []]);
    const path = `/Groups/${body.id}`;
    const members = async () => (await scim.get(path)).body.members;
    const add = { op: 'Add', path: 'members', value: [one, two].map(({ id }) => ({ $ref: null, value: id })) };
    expect((await scim.patch(path, add)).status).toBe(204);
    expect(await members()).toMatchObject([{ value: one.id }, { value: two.id }]);
    const remove = { op: 'Remove', path: 'members', value: [{ $ref: null, value: one.id }] };
    expect((await scim.patch(path, remove)).status).toBe(204);
    expect(await members()).toEqual([{ value: two.id, type: 'User', display: expect.any(String) }]);
    expect((await scim.get(`${path}?excludedAttributes=members`)).body).not.toHaveProperty('members');
    for (const [user, total] of [
      [one, 0],
      [two, 1],
    ] as const)
      expect(
        (await scim.get(`/Groups${filtered(`id eq "${body.id}" and members[value eq "${user.id}"]`)}`)).body,
      ).toMatchObject({
        totalResults: total,
      });
    const rename = { op: 'Replace', path: 'displayName', value: 'Entra renamed' };
    expect((await scim.patch(path, rename)).body.displayName).toBe('Entra renamed');
    expect(
      (await scim.get(`/Groups${filtered('displayName eq "Entra renamed"', '&excludedAttributes=members')}`)).body,
    ).toMatchObject({
      Resources: [{ id: body.id, externalId: 'group-of-entra' }],
    });
    expect((await scim.delete(path)).status).toBe(204);
    expect(await scim.get(path)).toMatchObject(scimError(404));
  });
});

describe('Okta', () => {
  const profile = (userName: string) => ({
    ...{ schemas: [`${CORE}:User`], userName, displayName: 'Test User', locale: 'en-US', groups: [], active: true },
    ...{ name: { givenName: 'Test', familyName: 'User' }, externalId: `okta of ${userName}`, password: '1mz050nq' },
    emails: [{ primary: true, value: userName, type: 'work' }],
  });

  test('creates, replaces, deactivates and activates people', async () => {
    const missing = await scim.get(
      `/Users${filtered('userName eq "test.user@okta.example"', '&startIndex=1&count=100')}`,
    );
    expect(missing.body.totalResults).toBe(0);
    const created = await scim.post('/Users', profile('test.user@okta.example'));
    expect(created).toMatchObject({
      status: 201,
      body: { userName: 'test.user@okta.example', displayName: 'Test User' },
    });
    expect(created.body).not.toHaveProperty('password');
    const path = `/Users/${created.body.id}`;
    const { externalId: _, ...renamed } = { ...profile('renamed@okta.example'), id: created.body.id };
    expect((await scim.put(path, renamed)).body).toMatchObject({
      ...{ userName: 'renamed@okta.example', externalId: 'okta of test.user@okta.example' },
      emails: [{ value: 'renamed@okta.example' }],
    });
    for (const active of [false, true])
      expect(await scim.patch(path, { op: 'replace', value: { active } })).toMatchObject({
        status: 200,
        body: { active },
      });
  });

  test('pushes groups', async () => {
    const [one, two] = [await newUser(), await newUser()];
    const group = { schemas: [`${CORE}:Group`], displayName: 'Test SCIMv2', members: [] };
    const { body } = await scim.post('/Groups', group);
    expect(await scim.post('/Groups', group)).toMatchObject(scimError(409, 'uniqueness'));
    const path = `/Groups/${body.id}`;
    const add = (id: string) => ({ op: 'add', path: 'members', value: [{ value: id, display: 'test@okta.example' }] });
    await scim.patch(path, add(one.id));
    await scim.patch(path, { op: 'remove', path: `members[value eq "${one.id}"]` }, add(two.id));
    expect((await scim.get(path)).body.members).toMatchObject([{ value: two.id }]);
    const rename = { op: 'replace', value: { id: body.id, displayName: 'Renamed SCIMv2' } };
    expect((await scim.patch(path, rename)).body).toMatchObject({ displayName: 'Renamed SCIMv2' });
    await scim.put(path, { ...group, displayName: 'Renamed SCIMv2', members: [{ value: one.id }] });
    expect((await scim.get('/Groups?startIndex=1&count=100')).body.Resources).toContainEqual(
      expect.objectContaining({ displayName: 'Renamed SCIMv2', members: [expect.objectContaining({ value: one.id })] }),
    );
    // Changes at the same time, each of which reads the group first.
    const many = await Promise.all(Array.from({ length: 6 }, async () => newUser()));
    await Promise.all(
      many.map(async ({ id }) => scim.patch(path, add(id), { op: 'replace', value: { displayName: `By ${id}` } })),
    );
    expect((await scim.get(path)).body.members).toHaveLength(7);
    await scim.patch(path, { op: 'remove', path: 'members' });
    expect((await scim.get(path)).body.members).toEqual([]);
    await scim.delete(path);
  });
});

test('pages have exact positions', async () => {
  const all = (await scim.get('/Users?count=100')).body;
  expect(all.totalResults).toBe(all.Resources.length);
  const ids = [];
  for (let start = 1; start <= all.totalResults; start += 3) {
    const page = (await scim.get(`/Users?startIndex=${start}&count=3&attributes=userName`)).body;
    expect(page).toMatchObject({
      startIndex: start,
      totalResults: all.totalResults,
      itemsPerPage: page.Resources.length,
    });
    expect(Object.keys(page.Resources[0]).sort()).toEqual(['id', 'userName']);
    ids.push(...page.Resources.map(({ id }: { id: string }) => id));
  }
  expect(ids).toEqual(all.Resources.map(({ id }: { id: string }) => id));
  expect((await scim.get('/Users?count=0')).body).toMatchObject({ totalResults: all.totalResults, Resources: [] });
});

test('a deactivation ends keys and sessions at once, and a user is never deleted', async () => {
  const person = await newUser();
  const key = await gateway.admin.createKey({
    ...{ workspace: 'acme', user: person.userName, name: 'test', scopes: SCOPES },
  });
  const session = await beginSession(gateway, person.userName);
  const clients = [clientOf(gateway, key.token), session.client];
  const statuses = async () => Promise.all(clients.map(async (client) => (await client.get('/api/v1/me')).status));
  expect(await statuses()).toEqual([200, 200]);
  expect((await scim.delete(`/Users/${person.id}`)).status).toBe(204);
  expect(await statuses()).toEqual([401, 401]);
  expect((await scim.get(`/Users/${person.id}`)).body.active).toBe(false);
  await eventually(async () => {
    const { body } = await owner.client.get('/api/v1/settings/audit-log?action=user.updated');
    const [entry] = body.entries;
    return (
      entry?.target.id === person.id && entry.actor.api_key_prefix === token.slice(0, entry.actor.api_key_prefix.length)
    );
  });
});

describe('groups', () => {
  beforeAll(connect);

  test('give roles and seats by the mapping of the sign-in, by name and by external ID', async () => {
    const person = await newUser();
    const roleOf = async () => {
      const { role, seat } = await apiUser(person.id);
      return [role, seat];
    };
    const create = async (displayName: string, externalId?: string) =>
      (await scim.post('/Groups', { displayName, externalId, members: [{ value: person.id }] })).body.id as string;
    const onCall = await create('On-call');
    expect(await roleOf()).toEqual(['member', 'responder']);
    const managers = await create('Those who manage', '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159');
    expect(await roleOf()).toEqual(['manager', 'responder']);
    await scim.patch(`/Groups/${managers}`, { op: 'remove', path: `members[value eq "${person.id}"]` });
    expect(await roleOf()).toEqual(['member', 'responder']);
    await scim.patch(`/Groups/${onCall}`, { op: 'replace', value: { displayName: 'Off-call' } });
    expect(await roleOf()).toEqual(['viewer', 'none']);
    await scim.patch(`/Groups/${onCall}`, { op: 'replace', value: { displayName: 'On-call' } });
    expect(await roleOf()).toEqual(['member', 'responder']);

    // A sign-in finds the same user, and the groups of the token do not count.
    provider.signIn({ sub: 'a', email: person.userName, email_verified: true, groups: ['Owners'] });
    const open = async (path: string, cookie = '') => {
      const { headers } = await gateway.send({ method: 'GET', path, headers: { Cookie: cookie } });
      const cookies = [headers['set-cookie'] ?? []].flat().map((each) => each.split(';')[0] ?? '');
      return { location: headers.location ?? '', cookie: cookies.join('; ') };
    };
    const begun = await open('/app/oidc');
    const { pathname, search } = await visitProvider(begun.location, provider.ca);
    const { cookie } = await open(`${pathname}${search}`, begun.cookie);
    const { body } = await httpClient(gateway.app.url, { Host: 'acme.localhost', Cookie: cookie }).get('/api/v1/me');
    expect(String(body.user.id)).toBe(person.id);
    expect(await roleOf()).toEqual(['member', 'responder']);
    await scim.delete(`/Groups/${onCall}`);
    expect(await roleOf()).toEqual(['viewer', 'none']);
  });

  test('make a new owner before the former one loses the role, and keep the last one', async () => {
    const [first, second] = [await newUser(), await newUser()];
    const { body } = await scim.post('/Groups', { displayName: 'Owners', members: [{ value: first.id }] });
    expect((await apiUser(first.id)).role).toBe('owner');
    const member = { value: second.id };
    await scim.patch(`/Groups/${body.id}`, { op: 'replace', path: 'members', value: [member] });
    expect([(await apiUser(first.id)).role, (await apiUser(second.id)).role]).toEqual(['viewer', 'owner']);
    await scim.delete(`/Groups/${body.id}`);
    expect((await apiUser(second.id)).role).toBe('viewer');
    expect(await scim.delete(`/Users/${owner.user.id}`)).toMatchObject(scimError(409));
    expect(await scim.patch(`/Users/${owner.user.id}`, { op: 'replace', path: 'active', value: false })).toMatchObject(
      scimError(409),
    );
    const { body: readers } = await scim.post('/Groups', {
      displayName: 'Readers',
      members: [{ value: String(owner.user.id) }],
    });
    expect((await apiUser(String(owner.user.id))).role).toBe('owner');
    await eventually(async () => {
      const { entries } = (await owner.client.get('/api/v1/settings/audit-log?action=group.created')).body;
      const added = entries.find(({ target }: { target: { id: string } }) => target.id === readers.id)?.after;
      expect(added ?? {}).toMatchObject(added && { display_name: 'Readers', members: 1, added: [owner.user.id] });
      return added !== undefined;
    });
    await scim.delete(`/Groups/${readers.id}`);
  });
});

describe('refuses in the form of SCIM', () => {
  const send = async (request: { method?: string; path?: string; body?: string; headers?: Record<string, string> }) => {
    const { headers, ...response } = await gateway.send({
      ...{ method: 'POST', path: '/scim/v2/Users', token, ...request },
      headers: { ...SCIM, ...request.headers },
    });
    expect(headers['content-type']).toBe('application/scim+json; charset=utf-8');
    return { status: response.status, body: JSON.parse(response.text) as unknown };
  };

  test('what the gateway refuses before it reads a request', async () => {
    expect(await send({ headers: { Authorization: 'Bearer tcs_wrong' } })).toEqual(scimError(401));
    const narrow = await memberOf(gateway, { role: 'owner', scopes: ['users:read', 'users:write'] });
    expect(await send({ headers: { Authorization: `Bearer ${narrow.token}` } })).toEqual(scimError(403));
    const reader = await memberOf(gateway, { role: 'member' });
    expect(await send({ headers: { Authorization: `Bearer ${reader.token}` } })).toEqual(scimError(403));
    expect(await send({ path: '/scim/v2/Nothing' })).toEqual(scimError(404));
    expect(await send({ method: 'PUT' })).toEqual(scimError(405));
    expect(await send({ headers: { 'Content-Length': '2000000' } })).toEqual(scimError(413));
  });

  test('a request that a limit refuses', async () => {
    await gateway.admin.setWorkspace({ slug: 'other', rateLimit: 1 });
    const { client } = other;
    let refused = await client.get('/scim/v2/Users');
    // A minute can end between two requests.
    for (let index = 0; index < 3 && refused.status !== 429; index += 1) refused = await client.get('/scim/v2/Users');
    expect(refused).toMatchObject(scimError(429));
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    await gateway.admin.setWorkspace({ slug: 'other', rateLimit: null });
  });

  test('a body that is none', async () => {
    expect(await send({ body: '{"userName": ' })).toEqual(scimError(400, 'invalidSyntax'));
    expect(await send({ body: '[]' })).toEqual(scimError(400, 'invalidValue'));
    expect(await send({ body: '{}', headers: { 'Content-Type': 'text/plain' } })).toEqual(scimError(415));
    expect(await send({ body: `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}` })).toEqual(
      scimError(400, 'invalidValue'),
    );
  });
});

test('repeated creates and names of others are refused', async () => {
  const [first, second] = [await newUser({ externalId: 'unique' }), await newUser()];
  const body = { schemas: [`${CORE}:User`], displayName: 'Second' };
  for (const changes of [
    { userName: first.userName.toUpperCase() },
    { userName: 'free@acme.example', externalId: 'unique' },
    { userName: 'free', emails: [{ value: first.userName }] },
  ])
    expect(await scim.post('/Users', { ...body, ...changes })).toMatchObject(scimError(409, 'uniqueness'));
  for (const path of ['userName', 'emails[type eq "work"].value'])
    expect(await scim.patch(`/Users/${second.id}`, { op: 'replace', path, value: first.userName })).toMatchObject(
      scimError(409, 'uniqueness'),
    );
  expect((await apiUser(second.id)).email).toBe(second.userName);
});

test('nobody reaches above their own role', async () => {
  const admin = await gateway.admin.createUser({
    workspace: 'acme',
    email: 'admin@acme.example',
    name: 'A',
    role: 'admin',
  });
  const key = await gateway.admin.createKey({
    ...{ workspace: 'acme', user: admin.email, name: 'directory', scopes: ['users:manage'] },
  });
  const patched = await clientFor(key.token).patch(`/Users/${owner.user.id}`, {
    op: 'replace',
    value: { displayName: 'x' },
  });
  expect(patched).toMatchObject(scimError(403));
});

test('what is of another workspace does not exist', async () => {
  const person = await newUser();
  const { body: group } = await scim.post('/Groups', { displayName: 'Only here', members: [{ value: person.id }] });
  const elsewhere = clientFor(other.token, 'other');
  for (const path of [`/Users/${person.id}`, `/Groups/${group.id}`]) {
    const replace = { op: 'replace', value: { displayName: 'taken' } };
    for (const reply of [
      await elsewhere.get(path),
      await elsewhere.put(path, { userName: 'x@acme.example', displayName: 'taken' }),
      await elsewhere.patch(path, replace),
      await elsewhere.patch(path, { op: 'add', path: 'title', value: 'x' }, { op: 'remove', path: 'members' }),
      await elsewhere.delete(path),
    ])
      expect([400, 404]).toContain(reply.status);
    expect(await elsewhere.get(path)).toMatchObject(scimError(404));
  }
  expect((await elsewhere.get(`/Users${filtered(`id eq "${person.id}"`)}`)).body.totalResults).toBe(0);
  const members = { displayName: 'Theirs', members: [{ value: person.id }] };
  expect(await elsewhere.post('/Groups', members)).toMatchObject(scimError(400, 'invalidValue'));
  // Locations have the host of their own workspace, also for requests at the same time.
  const locations = await Promise.all(
    Array.from(
      { length: 10 },
      async (_, index) =>
        (await (index % 2 ? scim : elsewhere).get('/Users?count=1')).body.Resources[0].meta.location as string,
    ),
  );
  expect(locations.map((location) => /\/\/(\w+)\./.exec(location)?.[1])).toEqual(
    Array.from({ length: 10 }, (_, index) => (index % 2 ? 'acme' : 'other')),
  );
  expect((await scim.get(`/Groups/${group.id}`)).body).toMatchObject({
    displayName: 'Only here',
    members: [{ value: person.id }],
  });
});

test('a hostile request changes nothing', async () => {
  const person = await newUser();
  const { body: group } = await scim.post('/Groups', { displayName: 'Target', members: [{ value: person.id }] });
  const alternatives = '(a eq 1 or b eq 2) and '.repeat(40);
  for (const filter of [
    `${alternatives}id eq "1"`,
    `emails[${alternatives}type eq "work"].value eq "x"`,
    `userName eq "${'\\'.repeat(900)}`,
    `userName ${'('.repeat(900)}`,
    'userName sw "a"',
    'userName eq "\\u0000"',
    'password eq "x"',
    '__proto__ eq "x"',
    'userName eq "x" and ',
    `${'userName eq "x" and '.repeat(5)}active eq true`,
    'x'.repeat(1_001),
    '',
  ])
    expect(await scim.get(`/Users${filtered(filter)}`)).toMatchObject(scimError(400, 'invalidFilter'));
  for (const query of [
    'attributes=or,and,(a',
    'attributes=__proto__,constructor',
    'excludedAttributes=not,id',
    'sortBy=x.y',
  ])
    expect((await scim.get(`/Users/${person.id}?${query}`)).status).toBe(200);
  expect(await scim.get('/Users?count=1e3')).toMatchObject(scimError(400, 'invalidValue'));
  for (const path of ['/Users/x', '/Users/1e3', '/Users/99999999999999999999', '/Groups/%00', '/Users/%ff'])
    expect([400, 404]).toContain((await scim.get(path)).status);

  const nested = (depth: number): unknown => (depth === 0 ? 1 : { formatted: nested(depth - 1) });
  const polluting = JSON.parse(
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  ) as object;
  const operations: unknown[] = [
    ...[
      '__proto__',
      'constructor.prototype.x',
      'name.__proto__',
      `emails[${alternatives}a eq 1]`,
      '.'.repeat(5_000),
      'a[',
      '',
    ],
    ...['emails[__proto__ eq "x"].value', 'emails[type eq "x"].__proto__', 'nothing', 'name.nothing', 'userName.x'],
  ].map((path) => ({ op: 'replace', path, value: 'x' }));
  operations.push(
    ...[polluting, { name: polluting }, { emails: [polluting] }, { name: nested(50) }, { name: [] }, { userName: {} }],
    ...[{ active: 'x' }, { emails: 'x' }, { emails: [1] }, { emails: Array(21).fill({ value: 'x' }) }, null, 5, []],
  );
  const asOperation = (each: unknown) =>
    typeof each === 'object' && each !== null && 'op' in each ? each : { op: 'add', value: each };
  const sent = [
    ...operations.map((each) => [asOperation(each)]),
    ...[[], [null], [{ op: 'x' }], [{ op: 'remove' }], [{ op: 'remove', path: 'userName' }], [{ op: 'add', path: 1 }]],
    ...[
      Array(1_001).fill({ op: 'add', path: 'title', value: 1 }),
      Array(51).fill({ op: 'add', path: 'displayName', value: 'x' }),
    ],
    [
      { op: 'replace', path: 'id', value: '7' },
      { op: 'replace', path: 'userName', value: '\u0007' },
    ],
  ];
  for (const each of sent)
    // What objects have besides the attributes is ignored.
    expect([
      [each, 204],
      [each, 400],
    ]).toContainEqual([each, (await scim.patch(`/Users/${person.id}`, ...each)).status]);
  for (const each of [
    ...[
      { op: 'add', path: 'members', value: 'x' },
      { op: 'add', path: 'members', value: [{ value: 'x' }] },
    ],
    ...[
      { op: 'add', path: 'members', value: [{ value: person.id, type: 'Group' }] },
      { op: 'add', path: 'members.value', value: '1' },
    ],
    { op: 'add', path: `members[value eq "${person.id}"]`, value: { value: '1' } },
    { op: 'add', path: 'members', value: Array(10_001).fill({ value: '1' }) },
  ])
    expect(await scim.patch(`/Groups/${group.id}`, each)).toMatchObject({ status: 400 });
  for (const body of [
    polluting,
    { userName: polluting },
    { userName: 'a', emails: polluting },
    { userName: 1 },
    { userName: ' ' },
  ])
    expect((await scim.post('/Users', body)).status).toBe(400);
  expect(Object.prototype).not.toHaveProperty('polluted');
  expect((await scim.get(`/Users/${person.id}`)).body).toMatchObject({ userName: person.userName, active: true });
  expect((await scim.get(`/Groups/${group.id}`)).body.members).toMatchObject([{ value: person.id }]);
});
