import { mock } from 'node:test';
import { afterAll, describe, expect, test } from '@jest/globals';
import { openPrincipalVerifier } from '@tocsin/http';
import { buildInfo } from '@tocsin/runtime';
import { httpClient, TEST_SECRET_KEYS } from '@tocsin/testing';
import { type GatewayHarness, startGatewayHarness } from '../gateway-harness.ts';

const gateway = await startGatewayHarness();
const token = await gateway.token();
afterAll(async () => gateway.close());

/** What the processes of this checkout say about themselves. */
const { version, commit } = buildInfo(undefined);

const INCIDENTS = '/api/v1/incidents';

describe('an allowed request', () => {
  test('reaches its service with the principal, the request ID and the body and headers of the client', async () => {
    const response = await gateway.send({
      method: 'POST',
      path: INCIDENTS,
      body: { title: 'Käse' },
      token,
      headers: { 'X-Request-ID': 'mine-1', 'Idempotency-Key': 'k1' },
    });
    expect(response.status).toBe(201);
    expect(gateway.lastReceived).toMatchObject({
      routeId: 'createIncident',
      body: { title: 'Käse' },
      requestId: 'mine-1',
      principal: { kind: 'user', workspace: { slug: 'acme', is_demo: false, reporting_currency: 'USD' } },
    });
    expect(gateway.lastReceived.headers).toMatchObject({ 'idempotency-key': 'k1', 'content-type': 'application/json' });
    const readBy = (audience: string) =>
      openPrincipalVerifier({ secretKeys: TEST_SECRET_KEYS, audience, callers: [] }).user(
        String(gateway.lastReceived.headers?.['x-tocsin-principal']),
      );
    expect(readBy('incident')).toEqual(gateway.lastReceived.principal);
    expect(readBy('incident')).toMatchObject({
      scopes: expect.arrayContaining(['incidents:write']),
      seat: 'responder',
      permissions: ['manage_settings', 'manage_teams', 'view_restricted', 'delete_permanently'],
    });
    // Other services refuse it.
    expect(readBy('catalog')).toBeUndefined();
  });

  test.each([-600_000, 600_000])('still does when the clock has been set by %i milliseconds', async (step) => {
    expect((await gateway.send({ path: INCIDENTS, token })).status).toBe(200);
    mock.timers.enable({ apis: ['Date'], now: Date.now() + step });
    try {
      expect((await gateway.send({ path: INCIDENTS, token })).status).toBe(200);
    } finally {
      mock.timers.reset();
    }
  });

  test('gets the response of the service and the headers of the gateway', async () => {
    const response = await gateway.send({ method: 'POST', path: INCIDENTS, body: { title: 'x' }, token });
    expect(response.body).toEqual({ route: 'createIncident' });
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'service-resource-version': '3',
      'idempotency-replayed': 'true',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-ratelimit-limit': '1200',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(Number(response.headers['x-ratelimit-remaining'])).toBeLessThan(1200);
    expect(response.headers).not.toHaveProperty('x-tocsin-secret');
    expect(response.headers['keep-alive'] ?? '').not.toBe('timeout=1');
  });

  test('gets the deprecation headers', async () => {
    const response = await gateway.send({ method: 'POST', path: '/api/v1/teams', body: { title: 'x' }, token });
    expect(response.headers).toMatchObject({
      deprecation: '@1767225600',
      sunset: 'Tue, 01 Dec 2026 00:00:00 GMT',
      link: '</api/v1/groups>; rel="successor-version"',
    });
  });

  test('reaches the service with its query and its encoded path unchanged', async () => {
    await gateway.send({ path: `${INCIDENTS}?limit=5&q=a%20b%26c+d`, token });
    expect(gateway.lastReceived.query).toEqual({ limit: 5, q: 'a b&c d' });
    await gateway.send({ path: '/api/v1/incident-references/INC%2F1%20%C3%A4', token });
    expect(gateway.lastReceived.params).toEqual({ reference: 'INC/1 ä' });
  });

  test('gets the errors of the service', async () => {
    const response = await gateway.send({ path: `${INCIDENTS}/abc`, token, headers: { 'X-Request-ID': 'r-9' } });
    expect(response.status).toBe(400);
    expect(response.body).toEqual({
      code: 'invalid_request',
      message: expect.any(String),
      field: 'id',
      request_id: 'r-9',
    });
    expect((await gateway.send({ path: `${INCIDENTS}?limti=5`, token })).body).toMatchObject({ field: 'limti' });
  });

  test('gets an empty response without a body', async () => {
    const response = await gateway.send({ method: 'DELETE', path: '/api/v1/timeline/5', token });
    expect([response.status, response.text]).toEqual([204, '']);
    expect(response.headers).not.toHaveProperty('transfer-encoding');
  });
});

describe('request IDs', () => {
  test.each(['a', 'x'.repeat(128), '!"#$%&/()=~'])('%s is kept', async (id) => {
    const response = await gateway.send({ path: INCIDENTS, token, headers: { 'X-Request-ID': id } });
    expect(response.headers['x-request-id']).toBe(id);
  });

  test.each(['', 'x'.repeat(129), 'two words', 'ümlaut'])('%j is replaced', async (id) => {
    const response = await gateway.send({
      path: '/nowhere',
      headers: { 'X-Request-ID': Buffer.from(id).toString('latin1') },
    });
    expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.body.request_id).toBe(response.headers['x-request-id']);
  });
});

describe('the order of the checks', () => {
  const huge = { 'Content-Length': 1_048_577 };

  test('the host is checked first', async () => {
    const response = await gateway.send({ method: 'POST', path: '/nowhere', host: 'other.localhost', headers: huge });
    expect([response.status, response.body.code]).toEqual([404, 'not_found']);
    // The request counts as one without a valid token.
    expect(response.headers['x-ratelimit-limit']).toBe('60');
  });

  test('then the Content-Length', async () => {
    const response = await gateway.send({ method: 'POST', path: '/nowhere', headers: huge });
    expect([response.status, response.body.code]).toEqual([413, 'request_body_too_large']);
  });

  test('then the token', async () => {
    const response = await gateway.send({ method: 'PUT', path: '/nowhere' });
    expect([response.status, response.body.code]).toEqual([401, 'authentication_required']);
    expect(response.headers['www-authenticate']).toBe('Bearer');
  });

  test('then the route, whatever the caller may do', async () => {
    const limited = await gateway.token({ role: 'member', seat: 'none', scopes: ['slack_context:read'] });
    const unknown = await gateway.send({ path: '/api/v1/nowhere', token: limited });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found']);
    const wrong = await gateway.send({ method: 'PUT', path: '/api/v1/services', token: limited });
    expect([wrong.status, wrong.body.code, wrong.headers.allow]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD, POST',
    ]);
    expect(wrong.headers).toHaveProperty('x-ratelimit-remaining');
  });

  test('then the scope, the seat, the permission, the path and the body', async () => {
    const create = async (given: Parameters<GatewayHarness['token']>[0], body: unknown = {}) =>
      gateway.send({ method: 'POST', path: '/api/v1/services', body, token: await gateway.token(given) });

    const scope = await create({ role: 'member', seat: 'none', scopes: ['services:read'] });
    expect(scope.status).toBe(403);
    expect(scope.body).toMatchObject({ code: 'missing_scope', details: { required_scope: 'services:write' } });
    const seat = await create({ role: 'member', seat: 'none' });
    expect(seat.status).toBe(403);
    expect(seat.body).toMatchObject({ code: 'responder_seat_required', details: { required_seat: 'responder' } });
    const permission = await create({ role: 'manager', seat: 'responder' });
    expect(permission.status).toBe(403);
    expect(permission.body).toMatchObject({
      code: 'missing_role_permission',
      details: { required_permission: 'manage_settings' },
    });
    const body = await create({});
    expect([body.status, body.body.code, body.body.field]).toEqual([400, 'invalid_request', 'title']);

    const limited = await gateway.token({ role: 'member', seat: 'none' });
    const path = await gateway.send({ method: 'DELETE', path: '/api/v1/timeline/zero', token: limited });
    expect(path.body.code).toBe('responder_seat_required');
  });
});

describe('methods', () => {
  test('HEAD works like GET, without a body', async () => {
    const get = await gateway.send({ path: INCIDENTS, token });
    const head = await gateway.send({ method: 'HEAD', path: INCIDENTS, token });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect((await gateway.send({ method: 'HEAD', path: '/api/v1/teams', token })).status).toBe(405);
    expect((await gateway.send({ method: 'HEAD', path: INCIDENTS })).status).toBe(401);
  });

  test('OPTIONS is handled like any other method, and no origin is allowed', async () => {
    const response = await gateway.send({
      method: 'OPTIONS',
      path: INCIDENTS,
      token,
      headers: { Origin: 'https://a.example' },
    });
    expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    expect(response.headers).not.toHaveProperty('access-control-allow-origin');
    expect((await gateway.send({ method: 'OPTIONS', path: INCIDENTS })).status).toBe(401);
    expect((await gateway.send({ method: 'OPTIONS', path: '*', token })).status).toBe(400);
  });

  test.each(['PUT', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY'])('%s is 405 on a path without it', async (method) => {
    const response = await gateway.send({ method, path: INCIDENTS, token });
    expect([response.status, response.body.code]).toEqual([405, 'method_not_allowed']);
  });
});

describe('pages that need no token', () => {
  test.each(['acme.localhost', 'localhost', 'other.example', '127.0.0.1:8080', '[::1]:8080'])(
    'health and readiness on %s',
    async (host) => {
      expect((await gateway.send({ path: '/healthz', host })).body).toEqual({ status: 'ok', version });
      const ready = await gateway.send({ path: '/readyz', host });
      expect([ready.status, ready.body]).toEqual([200, { status: 'ready' }]);
    },
  );

  test('the commit, on the internal server only', async () => {
    const { body } = await httpClient(gateway.app.internalUrl).get('/healthz');
    expect(body).toEqual({ status: 'ok', version, commit });
  });

  test('readiness in detail, on the internal server', async () => {
    expect(await gateway.dependencies()).toEqual({ database: 'up', broker: 'up' });
  });

  test('the description of the API', async () => {
    const description = await gateway.send({ path: '/api/v1/openapi.json' });
    expect([description.status, description.body.openapi]).toEqual([200, '3.1.0']);
    expect(Object.keys(description.body.paths)).toContain('/api/v1/incidents/{id}');
  });

  test('GET and HEAD only', async () => {
    for (const path of ['/', '/healthz', '/docs', '/docs/', '/api/v1/openapi.json']) {
      const response = await gateway.send({ method: 'POST', path, body: {} });
      expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD']);
      expect((await gateway.send({ method: 'HEAD', path })).text).toBe('');
    }
  });

  test('the public server has neither metrics nor internal routes', async () => {
    for (const path of ['/metrics', '/internal/users/changes/pages?workspace_id=1&since=0']) {
      expect((await gateway.send({ path })).status).toBe(401);
      expect((await gateway.send({ path, token })).status).toBe(404);
    }
  });
});
