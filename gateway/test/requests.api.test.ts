import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifyPrincipal, PRINCIPAL_PURPOSE } from '@tocsin/http';
import { openKeyring } from '@tocsin/runtime';
import { TEST_SECRET_KEYS } from '@tocsin/testing';
import { type House, openHouse } from './house.ts';

let house: House;
let token: string;

beforeAll(async () => {
  house = await openHouse();
  token = await house.token();
});
afterAll(async () => house.close());

const INCIDENTS = '/api/v1/incidents';

describe('a request that is allowed', () => {
  test('reaches its service with the principal, the request ID and what the client sent', async () => {
    const answer = await house.say({
      method: 'POST',
      path: INCIDENTS,
      body: { title: 'Käse' },
      token,
      headers: { 'X-Request-ID': 'mine-1', 'Idempotency-Key': 'k1' },
    });
    expect(answer.status).toBe(201);
    expect(house.seen).toMatchObject({
      routeId: 'createIncident',
      body: { title: 'Käse' },
      requestId: 'mine-1',
      principal: { kind: 'user', workspace: { slug: 'acme', is_demo: false, reporting_currency: 'USD' } },
    });
    expect(house.seen.headers).toMatchObject({ 'idempotency-key': 'k1', 'content-type': 'application/json' });
    const vouched = verifyPrincipal(
      openKeyring(TEST_SECRET_KEYS, PRINCIPAL_PURPOSE),
      String(house.seen.headers?.['x-tocsin-principal']),
    );
    expect(vouched).toEqual(house.seen.principal);
  });

  test('gets the answer as the service gave it, and what the gateway adds', async () => {
    const answer = await house.say({ method: 'POST', path: INCIDENTS, body: { title: 'x' }, token });
    expect(answer.body).toEqual({ route: 'createIncident' });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'service-resource-version': '3',
      'idempotency-replayed': 'true',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-ratelimit-limit': '1200',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(Number(answer.headers['x-ratelimit-remaining'])).toBeLessThan(1200);
    expect(answer.headers).not.toHaveProperty('x-tocsin-secret');
    expect(answer.headers['keep-alive'] ?? '').not.toBe('timeout=1');
  });

  test('keeps the deprecation headers', async () => {
    const answer = await house.say({ method: 'POST', path: '/api/v1/teams', body: { title: 'x' }, token });
    expect(answer.headers).toMatchObject({
      deprecation: '@1767225600',
      sunset: 'Tue, 01 Dec 2026 00:00:00 GMT',
      link: '</api/v1/groups>; rel="successor-version"',
    });
  });

  test('carries its query and its encoded path as they were sent', async () => {
    await house.say({ path: `${INCIDENTS}?limit=5&q=a%20b%26c+d`, token });
    expect(house.seen.query).toEqual({ limit: 5, q: 'a b&c d' });
    await house.say({ path: '/api/v1/incident-references/INC%2F1%20%C3%A4', token });
    expect(house.seen.params).toEqual({ reference: 'INC/1 ä' });
  });

  test('the refusals of the service come through', async () => {
    const answer = await house.say({ path: `${INCIDENTS}/abc`, token, headers: { 'X-Request-ID': 'r-9' } });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      code: 'invalid_request',
      message: expect.any(String),
      field: 'id',
      request_id: 'r-9',
    });
    expect((await house.say({ path: `${INCIDENTS}?limti=5`, token })).body).toMatchObject({ field: 'limti' });
  });

  test('an empty answer stays empty', async () => {
    const answer = await house.say({ method: 'DELETE', path: '/api/v1/timeline/5', token });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers).not.toHaveProperty('transfer-encoding');
  });
});

describe('request IDs', () => {
  test.each(['a', 'x'.repeat(128), '!"#$%&/()=~'])('%s is kept', async (id) => {
    const answer = await house.say({ path: INCIDENTS, token, headers: { 'X-Request-ID': id } });
    expect(answer.headers['x-request-id']).toBe(id);
  });

  test.each(['', 'x'.repeat(129), 'two words', 'ümlaut'])('%j is replaced', async (id) => {
    const answer = await house.say({
      path: '/nowhere',
      headers: { 'X-Request-ID': Buffer.from(id).toString('latin1') },
    });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.body.request_id).toBe(answer.headers['x-request-id']);
  });
});

describe('the order of the checks', () => {
  const huge = { 'Content-Length': 1_048_577 };

  test('the host comes before everything', async () => {
    const answer = await house.say({ method: 'POST', path: '/nowhere', host: 'other.localhost', headers: huge });
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
    expect(answer.headers).not.toHaveProperty('x-ratelimit-limit');
  });

  test('then the announced length', async () => {
    const answer = await house.say({ method: 'POST', path: '/nowhere', headers: huge });
    expect([answer.status, answer.body.code]).toEqual([413, 'request_body_too_large']);
  });

  test('then the token', async () => {
    const answer = await house.say({ method: 'PUT', path: '/nowhere' });
    expect([answer.status, answer.body.code]).toEqual([401, 'authentication_required']);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test('then the route, for everybody alike', async () => {
    const poor = await house.token({ role: 'member', seat: 'none', scopes: ['slack_context:read'] });
    const unknown = await house.say({ path: '/api/v1/nowhere', token: poor });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found']);
    const wrong = await house.say({ method: 'PUT', path: '/api/v1/services', token: poor });
    expect([wrong.status, wrong.body.code, wrong.headers.allow]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD, POST',
    ]);
    expect(wrong.headers).toHaveProperty('x-ratelimit-remaining');
  });

  test('then the scope, the seat, the permission, the path and the body', async () => {
    const create = async (given: Parameters<House['token']>[0], body: unknown = {}) =>
      house.say({ method: 'POST', path: '/api/v1/services', body, token: await house.token(given) });

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

    const poor = await house.token({ role: 'member', seat: 'none' });
    const path = await house.say({ method: 'DELETE', path: '/api/v1/timeline/zero', token: poor });
    expect(path.body.code).toBe('responder_seat_required');
  });
});

describe('methods', () => {
  test('HEAD is answered where GET is, without a body', async () => {
    const get = await house.say({ path: INCIDENTS, token });
    const head = await house.say({ method: 'HEAD', path: INCIDENTS, token });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect((await house.say({ method: 'HEAD', path: '/api/v1/teams', token })).status).toBe(405);
    expect((await house.say({ method: 'HEAD', path: INCIDENTS })).status).toBe(401);
  });

  test('OPTIONS is a method like any other, and no origin is let in', async () => {
    const answer = await house.say({
      method: 'OPTIONS',
      path: INCIDENTS,
      token,
      headers: { Origin: 'https://a.example' },
    });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect((await house.say({ method: 'OPTIONS', path: INCIDENTS })).status).toBe(401);
    expect((await house.say({ method: 'OPTIONS', path: '*', token })).status).toBe(400);
  });

  test.each(['PUT', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY'])('%s is 405 where it is not declared', async (method) => {
    const answer = await house.say({ method, path: INCIDENTS, token });
    expect([answer.status, answer.body.code]).toEqual([405, 'method_not_allowed']);
  });
});

describe('what needs no token', () => {
  test.each(['acme.localhost', 'localhost', 'other.example', '127.0.0.1:8080', '[::1]:8080'])(
    'health and readiness, at %s',
    async (host) => {
      expect((await house.say({ path: '/healthz', host })).body).toEqual({ status: 'ok' });
      const ready = await house.say({ path: '/readyz', host });
      expect([ready.status, ready.body]).toEqual([
        200,
        { status: 'ready', dependencies: { database: 'up', broker: 'up' } },
      ]);
    },
  );

  test('the description of the API, for programs and for people', async () => {
    const description = await house.say({ path: '/api/v1/openapi.json' });
    expect([description.status, description.body.openapi]).toEqual([200, '3.1.0']);
    expect(Object.keys(description.body.paths)).toContain('/api/v1/incidents/{id}');
    const docs = await house.say({ path: '/docs' });
    expect([docs.status, docs.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(docs.headers['content-security-policy']).toContain("default-src 'none'");
    expect(docs.text).toContain('<title>Tocsin API</title>');
  });

  test('only to be read', async () => {
    for (const path of ['/healthz', '/docs', '/api/v1/openapi.json']) {
      const answer = await house.say({ method: 'POST', path, body: {} });
      expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD']);
      expect((await house.say({ method: 'HEAD', path })).text).toBe('');
    }
  });

  test('metrics and internal routes are not behind the public door', async () => {
    for (const path of ['/metrics', '/internal/users/changes?workspace_id=1&since=0']) {
      expect((await house.say({ path })).status).toBe(401);
      expect((await house.say({ path, token })).status).toBe(404);
    }
  });
});
