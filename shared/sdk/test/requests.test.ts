import { describe, expect, test } from '@jest/globals';
import {
  ConnectionError,
  NotFoundError,
  PreconditionFailedError,
  Tocsin,
  TocsinError,
  UnexpectedResponseError,
} from '../src/index.ts';
import { json, parts, type Respond, startRecording } from './recording-server.ts';

const { server, tocsin, respondWith: respond } = await startRecording();
const paths = () => server.requests.map(({ path }) => path);

const error = (code: string, more: object = {}) => ({ code, message: 'No', request_id: 'r-1', ...more });

describe('requests of the client', () => {
  /** Responds in these ways, one after the other, and then with an incident. */
  const respondWith = (...responses: Respond[]) =>
    respond(json(200, { incident: { id: 4, revision: 2, title: 'Down' } }), ...responses);
  const lost: Respond = (response) => response.socket?.resetAndDestroy();
  const half: Respond = (response) => {
    response.writeHead(200, { 'Content-Length': '1000' }).write('{"incident"');
    response.socket?.end();
  };
  const keys = () => server.requests.map(({ headers }) => headers['idempotency-key']);

  test('keep the key of a create over its repetitions, and take a new one for the next create', async () => {
    respondWith(lost, half, json(503, error('service_unavailable'), { 'Retry-After': '0' }));
    expect((await tocsin.incidents.create({ title: 'Down' })).incident.id).toBe(4);
    expect(keys()).toHaveLength(4);
    expect(new Set(keys()).size).toBe(1);
    await tocsin.incidents.create({ title: 'Down' });
    expect(new Set(keys()).size).toBe(2);
    expect(keys()[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('return a Markdown document as its text', async () => {
    respond(parts('text/markdown; charset=utf-8', ['# INC-4', ': Down\n']));
    expect(await tocsin.incidents.getPostmortemMarkdown(4)).toBe('# INC-4: Down\n');
    expect(server.requests[0]).toMatchObject({
      path: '/api/v1/incidents/4/postmortem',
      headers: { accept: 'text/markdown' },
    });
  });

  test('send a file as it is, and return a file', async () => {
    const bytes = Uint8Array.from([137, 80, 78, 71, 0, 255]);
    for (const file of [bytes, new Blob([bytes])]) {
      respond(json(201, { picture: { id: 3 } }));
      const { picture } = await tocsin.pictures.create(4, file, { query: { filename: 'a b.png' } });
      expect(picture.id).toBe(3);
      expect(server.requests.at(-1)).toMatchObject({
        path: '/api/v1/incidents/4/pictures?filename=a+b.png',
        headers: { 'content-type': 'application/octet-stream', 'content-length': '6' },
      });
    }
    respond((response) => void response.writeHead(200, { 'Content-Type': 'image/png' }).end(bytes));
    const blob = await tocsin.pictures.get(3, { size: 'full' });
    expect([blob.type, await blob.bytes()]).toEqual(['image/png', bytes]);
  });

  test('return an HTML page only if it was asked for', async () => {
    respond(parts('text/html; charset=utf-8', ['<!doctype html>']));
    expect(await tocsin.incidents.getPostmortemHtml(4)).toBe('<!doctype html>');
    expect(server.requests[0]?.headers.accept).toBe('text/html');
    await expect(tocsin.incidents.getPostmortem(4)).rejects.toThrow('The response is not JSON');
  });

  test('change the document of a post-mortem by its own revision', async () => {
    const document = { revision: 3, sections: [] };
    respondWith(json(200, { postmortem: {}, document }), json(200, { document: { ...document, revision: 4 } }));
    const reply = await tocsin.incidents.updatePostmortemWith(4, (current) => ({ sections: current?.sections ?? [] }));
    expect(reply.document?.revision).toBe(4);
    expect(paths()).toEqual(['/api/v1/incidents/4/postmortem', '/api/v1/incidents/4/postmortem']);
    expect(server.requests[1]?.headers['if-service-resource-version']).toBe('3');
  });

  test('have the parameters of a query beside their body', async () => {
    const alert = { id: 'disk', status: 'firing', title: 'Full' } as const;
    const query = { on_end: 'resolve', new_incidents: 3 } as const;
    await tocsin.alerts.send(alert, { query, validateOnly: true });
    // @ts-expect-error: another operation has it
    await tocsin.alerts.send(alert, { query: { group: 'alert' } });
    await tocsin.alerts.sendAlertmanager({}, { query: { group: 'alert' } });
    expect(paths()).toEqual([
      '/api/v1/alerts?on_end=resolve&new_incidents=3&validate_only=true',
      '/api/v1/alerts?group=alert',
      '/api/v1/alerts/alertmanager?group=alert',
    ]);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(alert);
  });

  test('are repeated while the first one with the key is in progress', async () => {
    respondWith(json(409, error('idempotency_in_progress'), { 'Retry-After': '0' }));
    await tocsin.incidents.create({ title: 'Down' }, { idempotencyKey: 'mine' });
    expect(keys()).toEqual(['mine', 'mine']);
  });

  test.each([
    ['a lost connection', lost],
    ['a response that is cut off', half],
    ['503', json(503, error('service_unavailable'), { 'Retry-After': '0' })],
    ['500', json(500, error('internal'))],
  ])('are not repeated after %s if they could have a second effect', async (_, response) => {
    respondWith(response);
    const failed = tocsin.incidents.update(4, { title: 'Up' }, { ifRevision: 1 });
    await expect(failed).rejects.toMatchObject({ retryable: false });
    expect(server.requests).toHaveLength(1);
    respondWith(response);
    await tocsin.incidents.update(4, { title: 'Up' }, { ifRevision: 1, validateOnly: true });
    expect(paths()).toEqual([
      '/api/v1/incidents/4',
      '/api/v1/incidents/4?validate_only=true',
      '/api/v1/incidents/4?validate_only=true',
    ]);
  });

  test('are repeated after 429, which is before any effect, and not before Retry-After', async () => {
    respondWith(json(429, error('rate_limited'), { 'Retry-After': '1' }));
    const before = performance.now();
    await tocsin.incidents.resolve(4, { resolution_note: 'Done' });
    expect(server.requests).toHaveLength(2);
    // The least that the server asked for: a busy machine only takes longer.
    expect(performance.now() - before).toBeGreaterThanOrEqual(1_000);
  });

  test('end after their repetitions, and at once if the server wants them much later', async () => {
    server.respond = lost;
    await expect(tocsin.incidents.get(4, { retries: 2 })).rejects.toThrow(ConnectionError);
    expect(server.requests).toHaveLength(3);
    server.respond = json(429, error('rate_limited'), { 'Retry-After': '3600' });
    await expect(tocsin.incidents.get(4)).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 3_600 });
    expect(server.requests).toHaveLength(4);
  });

  test('reject with a class for each code', async () => {
    respondWith(json(404, error('not_found', { field: 'id' })));
    const refused = tocsin.incidents.get(5);
    await expect(refused).rejects.toThrow(NotFoundError);
    await expect(refused).rejects.toMatchObject({
      ...{ name: 'NotFoundError', code: 'not_found', status: 404, message: 'No' },
      ...{ field: 'id', requestId: 'r-1', retryable: false },
    });
    respondWith(json(418, error('of_a_later_version')));
    const unknown = tocsin.incidents.get(5);
    await expect(unknown).rejects.toThrow(TocsinError);
    await expect(unknown).rejects.toMatchObject({ code: 'of_a_later_version', status: 418 });
    respondWith((response) => response.writeHead(404).end('<html>'));
    await expect(tocsin.incidents.get(5)).rejects.toThrow(UnexpectedResponseError);
  });

  test('are not repeated where another server responds', async () => {
    const page: Respond = (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>');
    const redirect: Respond = (response) => response.writeHead(302, { Location: '/login' }).end();
    for (const [response, Class] of [[page, UnexpectedResponseError] as const, [redirect, ConnectionError] as const]) {
      server.requests = [];
      respondWith(response);
      const failed = tocsin.incidents.get(4);
      await expect(failed).rejects.toThrow(Class);
      await expect(failed).rejects.toMatchObject({ retryable: false });
      expect(server.requests).toHaveLength(1);
    }
    const overTls = new Tocsin({ baseUrl: server.url.replace('http:', 'https:'), token: 'tcs_test' });
    await expect(overTls.incidents.get(4)).rejects.toMatchObject({ code: 'connection_lost', retryable: false });
  });

  test('reach every name below localhost on this machine, with its name', async () => {
    const { port } = new URL(server.url);
    const named = new Tocsin({ baseUrl: `http://acme.localhost:${port}`, token: 'tcs_test', retries: 1 });
    respondWith(lost);
    expect((await named.incidents.create({ title: 'Döwn' })).incident.id).toBe(4);
    expect(server.requests.map(({ headers, body }) => [headers.host, body])).toEqual(
      Array.from({ length: 2 }, () => [`acme.localhost:${port}`, '{"title":"Döwn"}']),
    );
    respondWith((response) => response.writeHead(204).end());
    expect((await named.request('DELETE', '/api/v1/timeline/4')).status).toBe(204);
    respondWith(json(404, error('not_found')));
    await expect(named.incidents.get(5)).rejects.toThrow(NotFoundError);
    respondWith((response) => response.writeHead(302, { Location: '/login' }).end());
    await expect(named.incidents.get(5)).rejects.toMatchObject({ retryable: false });
    server.respond = () => undefined;
    const reason = new Error('enough');
    const ended = new AbortController();
    const waiting = named.incidents.get(4, { signal: ended.signal });
    ended.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });

  test.each([
    [undefined, /^baseUrl must be the address/],
    [{ token: 'tcs_test' }, /^baseUrl must be the address/],
    [{ baseUrl: 'localhost:8080', token: 'tcs_test' }, /^baseUrl must be the address/],
    [{ baseUrl: 'http://localhost:8080' }, /^token must be the token/],
    [{ baseUrl: 'http://localhost:8080', token: '' }, /^token must be the token/],
    [{ baseUrl: 'http://localhost:8080', token: 'tcs_1\n' }, /^token must be the token/],
  ])('need an address and a token: %j', (options, message) => {
    expect(() => new Tocsin(options as ConstructorParameters<typeof Tocsin>[0])).toThrow(message);
  });

  test('have no token in a page whose session is a cookie', async () => {
    respondWith();
    const inPage = new Tocsin({ baseUrl: server.url, token: null });
    await inPage.incidents.get(4);
    await tocsin.incidents.get(4);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer tcs_test']);
  });

  test('end with their signal and in time', async () => {
    server.respond = () => undefined;
    const reason = new Error('enough');
    const ended = new AbortController();
    const waiting = tocsin.incidents.get(4, { signal: ended.signal });
    ended.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(tocsin.incidents.get(4, { timeout: 500, retries: 1 })).rejects.toMatchObject({ code: 'timeout' });
    expect(server.requests.length).toBeGreaterThanOrEqual(2);
    server.respond = json(429, error('rate_limited'), { 'Retry-After': '30' });
    await expect(tocsin.incidents.get(4, { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  });

  test('of updateWith read again when somebody was faster, a limited number of times', async () => {
    const outdated = json(412, error('precondition_failed', { details: { current_revision: 3 } }));
    const incident = (revision: number) => json(200, { incident: { id: 4, revision, title: `Down ${revision}` } });
    respondWith(incident(2), outdated, incident(3));
    const titles: string[] = [];
    await tocsin.incidents.updateWith(4, ({ title }) => {
      titles.push(title);
      return { title: `${title}!` };
    });
    expect(titles).toEqual(['Down 2', 'Down 3']);
    expect(server.requests.map(({ headers }) => headers['if-service-resource-version'])).toEqual([
      undefined,
      '2',
      undefined,
      '3',
    ]);
    server.requests = [];
    respondWith(incident(2), outdated, incident(2), outdated);
    const change = () => ({ title: 'Up' });
    await expect(tocsin.incidents.updateWith(4, change, { attempts: 2 })).rejects.toThrow(PreconditionFailedError);
    expect(server.requests).toHaveLength(4);
    expect(await tocsin.incidents.updateWith(4, () => undefined)).toMatchObject({ incident: { id: 4 } });
    expect(server.requests).toHaveLength(5);
  });

  test('read a list page by page, and only as far as it is iterated', async () => {
    const page = (ids: number[], next?: string) =>
      json(200, {
        incidents: ids.map((id) => ({ id })),
        pagination: { limit: 2, has_more: next !== undefined, ...(next !== undefined && { next_cursor: next }) },
      });
    respondWith(page([1, 2], 'b'), page([], 'c'), page([3]));
    const list = tocsin.incidents.list({ status: ['open', 'active'], limit: 2 });
    const ids: number[] = [];
    for await (const { id } of list) ids.push(id);
    expect(ids).toEqual([1, 2, 3]);
    expect(paths()).toEqual([
      '/api/v1/incidents?status=open&status=active&limit=2',
      '/api/v1/incidents?status=open&status=active&limit=2&cursor=b',
      '/api/v1/incidents?status=open&status=active&limit=2&cursor=c',
    ]);
    respondWith(page([1, 2], 'b'));
    for await (const { id } of list) if (id === 1) break;
    expect(server.requests).toHaveLength(4);
    respondWith(page([7], 'b'));
    expect((await list.page()).incidents).toEqual([{ id: 7 }]);
  });
});
