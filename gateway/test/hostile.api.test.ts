import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asService, asUser } from '@tocsin/testing';
import { type House, openHouse } from './house.ts';
import { sayRaw } from './speak.ts';

let house: House;
let token: string;
/** May read incidents, but not the archived ones: those want another scope in this house. */
let reader: string;

beforeAll(async () => {
  house = await openHouse();
  token = await house.token();
  reader = await house.token({ scopes: ['incidents:read'] });
});
afterAll(async () => house.close());

const INCIDENTS = '/api/v1/incidents';
const statusOf = (heard: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(heard)?.[1]);
const bodyOf = (heard: string) => JSON.parse(heard.slice(heard.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
const head = (line: string, ...headers: string[]) =>
  [line, 'Host: acme.localhost', `Authorization: Bearer ${token}`, 'Connection: close', ...headers, '', ''].join(
    '\r\n',
  );

describe('headers of ours that a client sends', () => {
  test('are not believed', async () => {
    const forged = { ...asUser({ user_id: 999 }), 'X-Tocsin-Internal': 'yes', 'x-tocsin-anything': '1' };
    const answer = await house.say({ path: INCIDENTS, token, headers: forged });
    expect(answer.status).toBe(200);
    expect(house.seen.principal?.user_id).not.toBe(999);
    expect(Object.keys(house.seen.headers ?? {}).filter((name) => name.startsWith('x-tocsin-'))).toEqual([
      'x-tocsin-principal',
    ]);
    expect((await house.say({ path: INCIDENTS, headers: { ...asUser(), ...asService() } })).status).toBe(401);
  });

  test('neither tokens nor cookies nor hops go further than the gateway', async () => {
    await house.say({
      path: INCIDENTS,
      token,
      headers: {
        Cookie: 'a=b',
        TE: 'trailers',
        'Proxy-Authorization': 'Basic x',
        'X-Forwarded-For': '203.0.113.9',
        Forwarded: 'for=203.0.113.9',
        Connection: 'close, X-Hop',
        'X-Hop': '1',
        'X-Other': '2',
      },
    });
    const names = Object.keys(house.seen.headers ?? {});
    for (const name of [
      'authorization',
      'cookie',
      'te',
      'proxy-authorization',
      'x-forwarded-for',
      'forwarded',
      'x-hop',
    ]) {
      expect(names).not.toContain(name);
    }
    expect(names).toContain('x-other');
  });

  test('a Connection header cannot strike out the principal or the length of the body', async () => {
    const answer = await house.say({
      method: 'POST',
      path: INCIDENTS,
      body: { title: 'x' },
      token,
      headers: { Connection: 'close, content-length, x-tocsin-principal, x-request-id' },
    });
    expect(answer.status).toBe(201);
  });
});

describe('paths', () => {
  test.each([
    ['/api/v1/incidents/ARCHIVED', 400],
    ['/api/v1/incidents/Archived', 400],
    ['/api/v1/incidents/%61rchived', 400],
    ['/api/v1/incidents/archived%20', 400],
    ['/api/v1/incidents/archived;x', 400],
    ['/api/v1/incidents/archived%00', 400],
    ['/api/v1/incidents/archived%2F', 400],
    ['/api/v1/incidents/archived%23', 400],
    ['/api/v1/incidents/%', 400],
    ['/api/v1/incidents/%zz', 400],
    ['/api/v1/incidents/%ff', 400],
    ['/api/v1/incidents/archived#', 400],
    ['/api/v1/incidents/archived#/5', 400],
    ['/api/v1/incidents\\archived', 400],
    ['/api/v1/incidents/archived/', 404],
    ['/api/v1/incidents//archived', 404],
    ['//api/v1/incidents/archived', 404],
    ['/api/v1//incidents', 404],
    ['/API/V1/incidents', 404],
    ['/api/v1/incidents/./archived', 404],
    ['/api/v1/teams/../incidents', 404],
    ['/api/v1/incidents/..%2f..%2fhealthz', 400],
    ['/api/v1/incidents/%2e%2e', 404],
    ['/api/v1/../../metrics', 404],
    ['/%2e/api/v1/incidents', 404],
    ['/', 404],
  ])('%s leads around no scope: %i', async (path, status) => {
    const answer = await house.say({ path, token: reader });
    expect(answer.status).toBe(status);
    expect(answer.body.request_id).toBe(answer.headers['x-request-id']);
  });

  test('only the literal path is the literal route', async () => {
    expect((await house.say({ path: '/api/v1/incidents/archived', token: reader })).body.code).toBe('missing_scope');
    expect((await house.say({ path: '/api/v1/incidents/archived', token })).body.route).toBe('listArchivedIncidents');
    expect((await house.say({ path: '/api/v1/incidents/archived?x#', token: reader })).status).toBe(400);
    expect((await house.say({ path: '/api/v1/incidents/5?\u00a0', token: reader })).body.code).toBe('invalid_request');
  });

  test('U+0000 in a text parameter is named', async () => {
    const answer = await house.say({ path: '/api/v1/incident-references/a%00b', token });
    expect([answer.status, answer.body.field]).toEqual([400, 'reference']);
  });

  test('UTF-8 that is not encoded is refused in our form', async () => {
    const raw = Buffer.from('käse').toString('latin1');
    for (const target of [`${INCIDENTS}?q=${raw}`, `/api/v1/incident-references/${raw}`]) {
      const heard = await sayRaw(house.app.url, head(`GET ${target} HTTP/1.1`));
      expect([statusOf(heard), bodyOf(heard)['code']]).toEqual([400, 'invalid_request']);
    }
  });

  test('an absolute target names the host itself', async () => {
    const at = async (target: string) => statusOf(await sayRaw(house.app.url, head(`GET ${target} HTTP/1.1`)));
    expect(await at(`http://acme.localhost${INCIDENTS}`)).toBe(200);
    expect(await at(`http://other.localhost${INCIDENTS}`)).toBe(404);
    expect(await at('http://acme.localhost')).toBe(404);
    expect(await at('http://[::1')).toBe(404);
  });
});

describe('hosts', () => {
  test.each([
    'localhost',
    'other.localhost',
    'acme.localhost.evil.example',
    '127.0.0.1',
    '[::1]',
    '[::1]:8080',
    '[::1',
    'acme.localhost:80:80',
    'acme@other.localhost',
    'äcme.localhost',
    '..localhost',
    "'; drop table workspaces; --.localhost",
    `${'a'.repeat(300)}.localhost`,
    'acme%2elocalhost',
  ])('%s is no workspace', async (host) => {
    const answer = await house.say({ path: INCIDENTS, token, host: Buffer.from(host).toString('latin1') });
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  });

  test.each(['ACME.LOCALHOST', 'acme.localhost:8080', 'acme.localhost.'])('%s is acme', async (host) => {
    expect((await house.say({ path: INCIDENTS, token, host })).status).toBe(200);
  });

  test('none, or two, is refused', async () => {
    const none = await sayRaw(house.app.url, `GET ${INCIDENTS} HTTP/1.1\r\nConnection: close\r\n\r\n`);
    expect([statusOf(none), bodyOf(none)['field']]).toEqual([400, 'Host']);
    const two = await sayRaw(house.app.url, head(`GET ${INCIDENTS} HTTP/1.1`, 'host: other.localhost'));
    expect([statusOf(two), bodyOf(two)['field']]).toEqual([400, 'Host']);
    const old = await sayRaw(house.app.url, 'GET /healthz HTTP/1.0\r\n\r\n');
    expect(statusOf(old)).toBe(200);
  });
});

describe('what is no proper HTTP', () => {
  test.each([
    ['garbage', 'GARBAGE\r\n\r\n', 400],
    ['an unknown version', `GET ${INCIDENTS} HTTP/9.9\r\nHost: acme.localhost\r\n\r\n`, 400],
    ['two lengths', `POST ${INCIDENTS} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}`, 400],
    [
      'a length and chunks',
      `POST ${INCIDENTS} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
      400,
    ],
    ['a negative length', `POST ${INCIDENTS} HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n`, 400],
    ['a space before the colon', `GET ${INCIDENTS} HTTP/1.1\r\nHost : a\r\n\r\n`, 400],
    ['a header of 140 KiB', `GET ${INCIDENTS} HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(143_360)}\r\n\r\n`, 431],
  ])('%s is refused in our form', async (_what, text, status) => {
    const heard = await sayRaw(house.app.url, text);
    expect(statusOf(heard)).toBe(status);
    expect(bodyOf(heard)).toEqual({
      code: 'invalid_request',
      message: expect.any(String),
      request_id: expect.any(String),
    });
  });

  test('a chunk that is none ends the request, and the connection', async () => {
    const heard = await sayRaw(
      house.app.url,
      `${head(`POST ${INCIDENTS} HTTP/1.1`, 'Content-Type: application/json', 'Transfer-Encoding: chunked')}zz\r\n{}\r\n`,
    );
    expect([statusOf(heard), bodyOf(heard)['code']]).toEqual([400, 'invalid_request']);
  });

  test('a flood of headers cannot hide the length of the body', async () => {
    const smuggled = head(`GET ${INCIDENTS}?q=smuggled HTTP/1.1`);
    for (const line of [
      `DELETE /api/v1/timeline/5 HTTP/1.1`,
      `GET ${INCIDENTS} HTTP/1.1`,
      `POST ${INCIDENTS} HTTP/1.1`,
    ]) {
      for (const [count, status] of [
        [100, 400],
        [1_100, 431],
      ] as const) {
        house.seen.query = undefined;
        const flood = Array.from({ length: count }, () => 'a:b');
        const heard = await sayRaw(
          house.app.url,
          `${head(line, ...flood, `Content-Length: ${smuggled.length}`)}${smuggled}`,
        );
        expect([statusOf(heard), bodyOf(heard)['code']]).toEqual([status, 'invalid_request']);
        expect(house.seen.query).toBeUndefined();
      }
    }
  });

  test('a body where none belongs arrives as a body, not as another request', async () => {
    const smuggled = `GET ${INCIDENTS}?q=smuggled HTTP/1.1\r\nHost: a\r\n\r\n`;
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const path = method === 'DELETE' ? '/api/v1/timeline/5' : INCIDENTS;
      house.seen.query = undefined;
      const chunk = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
      const chunked = await sayRaw(
        house.app.url,
        head(`${method} ${path} HTTP/1.1`, 'Transfer-Encoding: chunked') + chunk,
      );
      const sized = await sayRaw(
        house.app.url,
        head(`${method} ${path} HTTP/1.1`, `Content-Length: ${smuggled.length}`) + smuggled,
      );
      const expected = method === 'DELETE' ? 415 : 200;
      expect([method, statusOf(chunked), statusOf(sized)]).toEqual([method, expected, expected]);
      expect(house.seen.query).not.toEqual({ q: 'smuggled' });
    }
  });

  test('a transfer encoding that nobody undoes is refused', async () => {
    const heard = await sayRaw(
      house.app.url,
      head(`POST ${INCIDENTS} HTTP/1.1`, 'Transfer-Encoding: gzip, chunked') + '0\r\n\r\n',
    );
    expect([statusOf(heard), bodyOf(heard)['field']]).toEqual([400, 'Transfer-Encoding']);
  });

  test('an upgrade is not taken up', async () => {
    const heard = await sayRaw(
      house.app.url,
      [
        `GET ${INCIDENTS} HTTP/1.1`,
        'Host: acme.localhost',
        `Authorization: Bearer ${token}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        '',
        '',
      ].join('\r\n'),
    );
    expect(statusOf(heard)).toBe(200);
  });

  test('a client that waits to be told to go on is told, and answered', async () => {
    const body = JSON.stringify({ title: 'x' });
    const heard = await sayRaw(
      house.app.url,
      head(
        `POST ${INCIDENTS} HTTP/1.1`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Expect: 100-continue',
      ) + body,
    );
    expect(heard).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    expect(house.seen.principal).toBeDefined();
  });

  test('two requests in one go are answered in order', async () => {
    const heard = await sayRaw(
      house.app.url,
      [`GET ${INCIDENTS} HTTP/1.1`, 'Host: acme.localhost', `Authorization: Bearer ${token}`, '', ''].join('\r\n') +
        head('GET /api/v1/nowhere HTTP/1.1'),
    );
    expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404']);
  });
});
