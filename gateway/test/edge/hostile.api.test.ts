import { afterAll, describe, expect, test } from '@jest/globals';
import { asService, asUser } from '@tocsin/testing';
import { startGatewayHarness } from '../gateway-harness.ts';
import { sendBytes } from '../send-raw.ts';

const gateway = await startGatewayHarness();
const token = await gateway.token();
/** A token that may read incidents, but not archived ones, which need another scope in this gateway. */
const reader = await gateway.token({ scopes: ['incidents:read'] });
afterAll(async () => gateway.close());

const INCIDENTS = '/api/v1/incidents';
const statusOf = (response: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1]);
const bodyOf = (response: string) =>
  JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
const head = (line: string, ...headers: string[]) =>
  [line, 'Host: acme.localhost', `Authorization: Bearer ${token}`, 'Connection: close', ...headers, '', ''].join(
    '\r\n',
  );

describe('internal headers of a client', () => {
  test('are ignored', async () => {
    const forged = { ...asUser('incident', { user_id: 999 }), 'X-Tocsin-Internal': 'yes', 'x-tocsin-anything': '1' };
    const response = await gateway.send({ path: INCIDENTS, token, headers: forged });
    expect(response.status).toBe(200);
    expect(gateway.lastReceived.principal?.user_id).not.toBe(999);
    expect(Object.keys(gateway.lastReceived.headers ?? {}).filter((name) => name.startsWith('x-tocsin-'))).toEqual([
      'x-tocsin-principal',
    ]);
    expect(
      (await gateway.send({ path: INCIDENTS, headers: { ...asUser('incident'), ...asService('catalog', 'incident') } }))
        .status,
    ).toBe(401);
  });

  test('tokens, cookies and hop-by-hop headers are not forwarded', async () => {
    await gateway.send({
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
    const names = Object.keys(gateway.lastReceived.headers ?? {});
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

  test('a Connection header cannot remove the principal or the length of the body', async () => {
    const response = await gateway.send({
      method: 'POST',
      path: INCIDENTS,
      body: { title: 'x' },
      token,
      headers: { Connection: 'close, content-length, x-tocsin-principal, x-request-id' },
    });
    expect(response.status).toBe(201);
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
  ])('%s does not bypass the scope: %i', async (path, status) => {
    const response = await gateway.send({ path, token: reader });
    expect(response.status).toBe(status);
    expect(response.body.request_id).toBe(response.headers['x-request-id']);
  });

  test('only the exact literal path matches the literal route', async () => {
    expect((await gateway.send({ path: '/api/v1/incidents/archived', token: reader })).body.code).toBe('missing_scope');
    expect((await gateway.send({ path: '/api/v1/incidents/archived', token })).body.route).toBe(
      'listArchivedIncidents',
    );
    expect((await gateway.send({ path: '/api/v1/incidents/archived?x#', token: reader })).status).toBe(400);
    expect((await gateway.send({ path: '/api/v1/incidents/5?\u00a0', token: reader })).body.code).toBe(
      'invalid_request',
    );
  });

  test('the error for U+0000 in a path parameter names the parameter', async () => {
    const response = await gateway.send({ path: '/api/v1/incident-references/a%00b', token });
    expect([response.status, response.body.field]).toEqual([400, 'reference']);
  });

  test('UTF-8 and spaces that are not percent-encoded get an error in JSON that says so', async () => {
    for (const raw of [Buffer.from('käse').toString('latin1'), 'two words']) {
      for (const target of [`${INCIDENTS}?q=${raw}`, `/api/v1/incident-references/${raw}`]) {
        const response = await sendBytes(gateway.app.url, head(`GET ${target} HTTP/1.1`));
        expect([statusOf(response), bodyOf(response)]).toMatchObject([
          400,
          { code: 'invalid_request', message: expect.stringContaining('must be percent-encoded') },
        ]);
      }
    }
  });

  test('the host of an absolute target overrides the Host header', async () => {
    const statusFor = async (target: string) =>
      statusOf(await sendBytes(gateway.app.url, head(`GET ${target} HTTP/1.1`)));
    expect(await statusFor(`http://acme.localhost${INCIDENTS}`)).toBe(200);
    expect(await statusFor(`http://other.localhost${INCIDENTS}`)).toBe(404);
    expect(await statusFor('http://acme.localhost')).toBe(302);
    expect(await statusFor(`http://[::1${INCIDENTS}`)).toBe(404);
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
  ])('%s names no workspace', async (host) => {
    const response = await gateway.send({ path: INCIDENTS, token, host: Buffer.from(host).toString('latin1') });
    expect([response.status, response.body.code]).toEqual([404, 'not_found']);
  });

  test.each(['ACME.LOCALHOST', 'acme.localhost:8080', 'acme.localhost.'])('%s names acme', async (host) => {
    expect((await gateway.send({ path: INCIDENTS, token, host })).status).toBe(200);
  });

  test('a request must have exactly one host', async () => {
    const none = await sendBytes(gateway.app.url, `GET ${INCIDENTS} HTTP/1.1\r\nConnection: close\r\n\r\n`);
    expect([statusOf(none), bodyOf(none)['field']]).toEqual([400, 'Host']);
    const two = await sendBytes(gateway.app.url, head(`GET ${INCIDENTS} HTTP/1.1`, 'host: other.localhost'));
    expect([statusOf(two), bodyOf(two)['field']]).toEqual([400, 'Host']);
    const old = await sendBytes(gateway.app.url, 'GET /healthz HTTP/1.0\r\n\r\n');
    expect(statusOf(old)).toBe(200);
  });
});

describe('malformed or unusual HTTP', () => {
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
  ])('%s gets an error in JSON', async (_what, text, status) => {
    const response = await sendBytes(gateway.app.url, text);
    expect(statusOf(response)).toBe(status);
    expect(bodyOf(response)).toEqual({
      code: 'invalid_request',
      message: expect.any(String),
      request_id: expect.any(String),
    });
  });

  test('a malformed chunk ends the request and the connection', async () => {
    const response = await sendBytes(
      gateway.app.url,
      head(`POST ${INCIDENTS} HTTP/1.1`, 'Content-Type: application/json', 'Transfer-Encoding: chunked') +
        'zz\r\n{}\r\n',
    );
    expect([statusOf(response), bodyOf(response)['code']]).toEqual([400, 'invalid_request']);
  });

  test('very many headers cannot hide the length of the body', async () => {
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
        gateway.lastReceived.query = undefined;
        const flood = Array.from({ length: count }, () => 'a:b');
        const response = await sendBytes(
          gateway.app.url,
          `${head(line, ...flood, `Content-Length: ${smuggled.length}`)}${smuggled}`,
        );
        expect([statusOf(response), bodyOf(response)['code']]).toEqual([status, 'invalid_request']);
        expect(gateway.lastReceived.query).toBeUndefined();
      }
    }
  });

  test('an unexpected body is read as a body, not as another request', async () => {
    const smuggled = `GET ${INCIDENTS}?q=smuggled HTTP/1.1\r\nHost: a\r\n\r\n`;
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const path = method === 'DELETE' ? '/api/v1/timeline/5' : INCIDENTS;
      gateway.lastReceived.query = undefined;
      const chunk = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
      const chunked = await sendBytes(
        gateway.app.url,
        head(`${method} ${path} HTTP/1.1`, 'Transfer-Encoding: chunked') + chunk,
      );
      const sized = await sendBytes(
        gateway.app.url,
        head(`${method} ${path} HTTP/1.1`, `Content-Length: ${smuggled.length}`) + smuggled,
      );
      const expected = method === 'DELETE' ? 415 : 200;
      expect([method, statusOf(chunked), statusOf(sized)]).toEqual([method, expected, expected]);
      expect(gateway.lastReceived.query).not.toEqual({ q: 'smuggled' });
    }
  });

  test('an unknown transfer encoding is refused', async () => {
    const response = await sendBytes(
      gateway.app.url,
      head(`POST ${INCIDENTS} HTTP/1.1`, 'Transfer-Encoding: gzip, chunked') + '0\r\n\r\n',
    );
    expect([statusOf(response), bodyOf(response)['field']]).toEqual([400, 'Transfer-Encoding']);
  });

  test.each([
    ['a read', [`GET ${INCIDENTS} HTTP/1.1`], '', 200],
    ['a write', [`POST ${INCIDENTS} HTTP/1.1`, 'Content-Type: application/json'], '{"title":"x"}', 201],
    ['a refusal', ['GET /api/v1/nowhere HTTP/1.1'], '', 404],
    ['a refused body', ['POST /api/v1/nowhere HTTP/1.1'], '{"title":"x"}', 404],
  ])(
    '%s with an upgrade gets its response, and the connection is closed for the requests that follow',
    async (...row) => {
      const [, lines, body, status] = row;
      const common = ['Host: acme.localhost', `Authorization: Bearer ${token}`];
      const offer = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];
      const first = [...lines, ...common, ...offer, `Content-Length: ${body.length}`, '', body].join('\r\n');
      const second = [`GET ${INCIDENTS} HTTP/1.1`, ...common, '', ''].join('\r\n');
      // The gateway closes the connection, so that the client sends the second request again on another one.
      const response = await sendBytes(gateway.app.url, first + second, 10_000);
      expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`]);
      expect(response).toMatch(/\r\nConnection: close\r\n/i);
    },
  );

  test.each<[string, string, number, string?]>([
    ['a write', `POST ${INCIDENTS}`, 201],
    ['a read', `GET ${INCIDENTS}`, 200],
    // Refused before the body has been looked at.
    ['a path that does not exist', 'POST /api/v1/nowhere', 404, 'close'],
    ['a page', 'POST /docs', 405, 'close'],
    ['a sign-in', 'POST /app/session', 403, 'close'],
  ])(
    '%s whose connection does not stay open is answered with Connection: close',
    async (_what, line, status, otherwise = 'keep-alive') => {
      const body = line.startsWith('POST') ? JSON.stringify({ title: 'x' }) : '';
      const headers = ['Host: acme.localhost', `Authorization: Bearer ${token}`, 'Content-Type: application/json'];
      const send = async (version: string, ...more: string[]) =>
        sendBytes(
          gateway.app.url,
          [`${line} HTTP/${version}`, ...headers, ...more, `Content-Length: ${body.length}`, '', body].join('\r\n'),
        );
      for (const response of [await send('1.1', 'Connection: close'), await send('1.0')]) {
        expect([statusOf(response), /^connection: (.*)\r$/im.exec(response)?.[1]]).toEqual([status, 'close']);
      }
      for (const response of [await send('1.1'), await send('1.0', 'Connection: keep-alive')]) {
        expect([statusOf(response), /^connection: (.*)\r$/im.exec(response)?.[1]]).toEqual([status, otherwise]);
      }
    },
  );

  test('a client that expects 100 Continue gets it, and then its response', async () => {
    const body = JSON.stringify({ title: 'x' });
    const response = await sendBytes(
      gateway.app.url,
      head(
        `POST ${INCIDENTS} HTTP/1.1`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Expect: 100-continue',
      ) + body,
    );
    expect(response).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    expect(gateway.lastReceived.principal).toBeDefined();
  });

  test.each([
    ['a body that is too large', 'Authorization: Bearer ${token}', 1_048_577, 413],
    ['a wrong token', 'Authorization: Bearer tcs_wrong', 10, 401],
  ])('is refused before the body is asked for: %s', async (_name, authorization, length, status) => {
    const lines = [authorization.replace('${token}', token), `Content-Length: ${length}`, 'Expect: 100-continue'];
    const response = await sendBytes(
      gateway.app.url,
      ['POST /api/v1/incidents HTTP/1.1', 'Host: acme.localhost', ...lines, '', ''].join('\r\n'),
    );
    expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`]);
    // What follows on the connection could be the body.
    expect(response).toMatch(/\r\nConnection: close\r\n/i);
  });

  test('pipelined requests get their responses in order', async () => {
    const response = await sendBytes(
      gateway.app.url,
      [`GET ${INCIDENTS} HTTP/1.1`, 'Host: acme.localhost', `Authorization: Bearer ${token}`, '', ''].join('\r\n') +
        head('GET /api/v1/nowhere HTTP/1.1'),
    );
    expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404']);
  });
});
