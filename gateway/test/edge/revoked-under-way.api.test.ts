import { describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { openDatabase } from '@tocsin/postgres';
import { eventually } from '@tocsin/testing';
import { memoryRequestCounter } from '../../src/app.ts';
import { type GatewayHarnessOptions, ok, openers } from '../gateway-harness.ts';
import { memberOf } from '../members.ts';

const INCIDENTS = '/api/v1/incidents';
const { open: openGateway, openService } = openers();
const email = 'writer@acme.example';

/** A gateway before a service that answers nothing by itself, and a key of a user. */
async function open(options: GatewayHarnessOptions = {}) {
  const held: ServerResponse[] = [];
  const service = await openService((_request, response) => void held.push(response));
  const gateway = await openGateway({ ...options, incidentUrl: service.url });
  await gateway.admin.createUser({ workspace: 'acme', email, name: 'W', role: 'owner', seat: 'responder' });
  const scopes = ['incidents:read', 'incidents:write'];
  const { key, token } = await gateway.admin.createKey({ workspace: 'acme', user: email, name: 'k', scopes });
  const { client } = await memberOf(gateway, { role: 'owner' });
  const write = async () => gateway.send({ path: INCIDENTS, method: 'POST', token, body: '{}' });
  const keyPath = `/api/v1/settings/api-keys/${key.id}`;
  return { gateway, service, held, key, token, client, write, keyPath };
}

type Opened = Awaited<ReturnType<typeof open>>;
const AT_REVISION_1 = { 'If-Service-Resource-Version': '1' };

describe('a request under way ends, at the service too, when', () => {
  const changes: [what: string, change: (opened: Opened) => Promise<unknown>, status: number, code: string][] = [
    [
      'its key is revoked',
      async ({ client, keyPath }) => client.post(`${keyPath}/revoke`),
      401,
      'authentication_required',
    ],
    [
      'its owner is deactivated',
      async ({ gateway, client }) => {
        const { id } = await gateway.admin.getUser('acme', email);
        return client.patch(`/api/v1/settings/users/${id}`, { active: false }, AT_REVISION_1);
      },
      401,
      'authentication_required',
    ],
    [
      'its key loses the scope',
      async ({ client, keyPath }) => client.patch(keyPath, { scopes: ['incidents:read'] }, AT_REVISION_1),
      403,
      'missing_scope',
    ],
    [
      'its owner loses the seat',
      async ({ gateway }) => gateway.admin.setUser({ workspace: 'acme', email, seat: 'none' }),
      403,
      'responder_seat_required',
    ],
  ];
  test.each(changes)('%s', async (_what, change, status, code) => {
    const opened = await open();
    const { service, held, gateway, client, write } = opened;
    const writes = [write(), write()];
    const other = gateway.send({ path: INCIDENTS, method: 'POST', token: gateway.bearer, body: '{}' });
    await eventually(() => held.length === 3);
    expect(await change(opened)).not.toMatchObject({ status: 400 });
    for (const ended of await Promise.all(writes)) {
      expect(ended).toMatchObject({ status, body: { code, details: { outcome: 'unknown' } } });
    }
    await eventually(() => service.aborted === 2, { what: 'the end at the service' });
    ok(held.find((response) => !response.destroyed));
    expect((await other).status).toBe(200);
    expect((await client.get('/api/v1/me')).status).toBe(200);
  });
});

test('a change that takes nothing away that the request needs ends nothing', async () => {
  const { gateway, held, write, service } = await open();
  const writing = write();
  await eventually(() => held.length === 1);
  await gateway.admin.setUser({ workspace: 'acme', email, name: 'Renamed', role: 'member' });
  // Another change of the same kind, after which the first one has been noticed.
  const { key, token } = await gateway.admin.createKey({
    workspace: 'acme',
    user: email,
    name: 'l',
    scopes: ['incidents:write'],
  });
  const noticed = gateway.send({ path: INCIDENTS, method: 'POST', token, body: '{}' });
  await eventually(() => held.length === 2);
  await gateway.admin.revokeKey(key.id);
  expect((await noticed).status).toBe(401);
  ok(held[0]);
  expect([(await writing).status, service.aborted]).toEqual([200, 1]);
});

test('a request that waits for its turn does not reach the service when its key has been revoked', async () => {
  const requestCounter = memoryRequestCounter();
  let counts = 0;
  const count: typeof requestCounter.count = (...args) => {
    counts += 1;
    return requestCounter.count(...args);
  };
  const { gateway, key, held, write, service } = await open({
    shares: { requestsPerWorkspace: 1 },
    overrides: { requestCounter: { ...requestCounter, count } },
  });
  const first = write();
  await eventually(() => held.length === 1);
  const before = counts;
  const waiting = write();
  // It has been authenticated.
  await eventually(() => counts > before);
  await gateway.admin.revokeKey(key.id);
  expect([(await first).status, (await waiting).status, service.requests]).toEqual([401, 401, 1]);
});

test('a revoked key makes no key when its request gets the lock that it waited for', async () => {
  const gateway = await openGateway();
  await gateway.admin.createUser({ workspace: 'acme', email, name: 'W', role: 'owner', seat: 'responder' });
  const scopes = ['api_keys:manage', 'incidents:read'];
  const { key, token } = await gateway.admin.createKey({ workspace: 'acme', user: email, name: 'k', scopes });
  const observer = openDatabase({
    url: gateway.database.adminUrl,
    schema: 'gateway',
    application: 'observer',
    poolSize: 2,
  });
  const body = JSON.stringify({ name: 'next', scopes: ['incidents:read'] });
  const answer = await observer.transaction(async (trx) => {
    await trx.raw('select id from workspaces for update');
    const creating = gateway.send({ path: '/api/v1/settings/api-keys', method: 'POST', token, body });
    await eventually(async () => {
      const { rows } = await trx.raw<{ rows: object[] }>(`select 1 from pg_locks where not granted
        and pid in (select pid from pg_stat_activity where datname = current_database())`);
      return rows.length > 0;
    });
    await trx('api_keys').where({ id: key.id }).update({ revoked_at: trx.fn.now() });
    return { creating };
  });
  // Either the statement saw it, or the gateway noticed and ended the request.
  expect([401, 403]).toContain((await answer.creating).status);
  expect(await observer('api_keys').where({ name: 'next' }).pluck('id')).toEqual([]);
  await observer.destroy();
});
