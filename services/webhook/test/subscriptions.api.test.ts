import { describe, expect, test } from '@jest/globals';
import { type Client, refusal } from '@tocsin/testing';
import { activeSubscription, serviceForFile, subscribe } from './service.ts';

const PATH = '/api/v1/settings/webhooks';
const URL = 'https://hooks.example.com/in?key=hidden';

const service = await serviceForFile();

// Each test uses its own workspace, because subscriptions per workspace are limited.
let workspaces = 0;
const newWorkspace = (): Client => service.as({ workspace: { id: (workspaces += 1) } });

describe('creating a subscription', () => {
  test('returns it paused, with its secret, and only the scheme and host of its URL', async () => {
    const client = newWorkspace();
    const { status, body } = await client.post(PATH, { url: URL });
    const now = service.clock.now();
    expect(status).toBe(201);
    expect(body).toEqual({
      webhook: {
        id: expect.stringMatching(/^wh_[0-9A-Za-z]{22}$/),
        name: null,
        url: 'https://hooks.example.com',
        event_types: ['incident.created'],
        header_names: [],
        include_restricted: false,
        status: 'paused',
        created_at: now,
        updated_at: now,
        last_success_at: null,
        last_failure_at: null,
      },
      secret: expect.stringMatching(/^whsec_[0-9A-Za-z]{43}$/),
    });
    const list = await client.get(PATH);
    expect(list).toMatchObject({ status: 200, body: { webhooks: [body.webhook] } });
    expect(list.text).not.toMatch(/whsec_|hidden/);
  });

  test('takes a name, which tells two on the same host apart', async () => {
    const client = newWorkspace();
    const longest = '🚨'.repeat(128);
    for (const name of ['  On-call pager ', longest, null]) {
      expect(await client.post(PATH, { url: URL, name })).toMatchObject({ status: 201 });
    }
    const { body } = await client.get(PATH);
    expect(body.webhooks.map((webhook: { name: string | null }) => webhook.name)).toEqual([
      'On-call pager',
      longest,
      null,
    ]);
  });

  test.each([
    [{ 'Content-Type': 'text/plain' }, 'headers.Content-Type'],
    [{ 'webhook-id': '1' }, 'headers.webhook-id'],
    [{ 'X-Forwarded-For': '10.0.0.1' }, 'headers.X-Forwarded-For'],
    [{ 'X-HTTP-Method-Override': 'DELETE' }, 'headers.X-HTTP-Method-Override'],
    [{ [`X-${'a'.repeat(63)}`]: '1' }, `headers.X-${'a'.repeat(63)}`],
    [{ 'X-Key': 'a\r\nHost: other' }, 'headers.X-Key'],
    [{ 'X-Key': '' }, 'headers.X-Key'],
    [{ 'X-Key': 'é' }, 'headers.X-Key'],
    [{ 'X-Key': 'k'.repeat(1_025) }, 'headers.X-Key'],
    [{ 'X-Key': 'a', 'x-key': 'b' }, 'headers'],
    [Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`X-${index}`, '1'])), 'headers'],
  ])('refuses headers that are not its own: %j', async (headers, field) => {
    const client = newWorkspace();
    expect(await client.post(PATH, { url: URL, headers })).toMatchObject(refusal(400, 'invalid_request', { field }));
    const { path } = await subscribe(client, URL);
    expect(await client.put(`${path}/headers`, { headers })).toMatchObject(refusal(400, 'invalid_request', { field }));
    expect((await client.get(PATH)).body.webhooks).toMatchObject([{ header_names: [] }]);
  });

  test('accepts ten headers of the longest names and values', async () => {
    const headers = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`X-${'a'.repeat(61)}${index}`, 'k'.repeat(1_024)]),
    );
    const { status, body } = await newWorkspace().post(PATH, { url: URL, headers });
    expect([status, body.webhook.header_names]).toEqual([201, Object.keys(headers)]);
  });

  test.each([
    [{ url: 'http://hooks.example.com/' }, 'invalid_request', 'url'],
    [{ url: 'https://127.0.0.1/' }, 'invalid_request', 'url'],
    [{ url: 'https://hooks.example.com/#' }, 'invalid_request', 'url'],
    [{ url: `https://hooks.example.com/${'x'.repeat(2_023)}` }, 'invalid_request', 'url'],
    [{ url: URL, name: '  ' }, 'invalid_request', 'name'],
    [{ url: URL, name: '🚨'.repeat(129) }, 'invalid_request', 'name'],
    [{ url: URL, event_types: ['incident.created', 'incident.created'] }, 'invalid_request', 'event_types'],
  ])('rejects %j', async (requestBody, code, field) => {
    expect(await newWorkspace().post(PATH, requestBody)).toMatchObject({ status: 400, body: { code, field } });
  });

  test('accepts a URL of 2,048 characters', async () => {
    const url = `https://hooks.example.com/${'x'.repeat(2_022)}`;
    expect(url).toHaveLength(2_048);
    expect((await newWorkspace().post(PATH, { url })).status).toBe(201);
  });

  test('allows ten active or paused ones, however many requests arrive at once', async () => {
    const client = newWorkspace();
    const responses = await Promise.all(Array.from({ length: 14 }, async () => client.post(PATH, { url: URL })));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(10);
    const refused = responses.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array.from({ length: 4 }, () => [409, 'invalid_resource_state']),
    );

    const { body } = await client.get(PATH);
    await client.post(`${PATH}/${body.webhooks[0].id}/revoke`);
    expect((await client.post(PATH, { url: URL })).status).toBe(201);
    expect((await client.post(PATH, { url: URL })).status).toBe(409);
    const after = await client.get(PATH);
    expect(after.body.webhooks).toHaveLength(11);
    expect(after.body.webhooks[0].status).toBe('revoked');
  });
});

test('a workspace creates at most 600 subscriptions within an hour, and revokes any number', async () => {
  const client = newWorkspace();
  const workspace = workspaces;
  const other = newWorkspace();
  const started = Date.parse(service.clock.now());
  await service.knex.raw(
    `insert into subscriptions (id, workspace_id, origin, host, event_types, status, created_at, updated_at)
    select 'wh_hour_' || n, ?, 'https://x.example', 'x.example', '{incident.created}', 'revoked', ?, ?
    from generate_series(1, 599) as n`,
    [workspace, service.clock.now(), service.clock.now()],
  );
  service.clock.advance(60_000);
  const { path } = await subscribe(client, URL);
  expect((await client.post(`${path}/revoke`)).status).toBe(200);
  const seconds = 3_600 - (Date.parse(service.clock.now()) - started) / 1_000;
  const refused = await client.post(PATH, { url: URL });
  expect(refused).toMatchObject(
    refusal(429, 'rate_limited', { details: { limit: 'webhooks_an_hour', retry_after_seconds: seconds } }),
  );
  expect(refused.headers.get('retry-after')).toBe(String(seconds));
  expect((await other.post(PATH, { url: URL })).status).toBe(201);
  service.clock.advance(1_000 * seconds);
  expect((await client.post(PATH, { url: URL })).status).toBe(201);
});

test('the list has every subscription in use, and of the revoked ones only the latest', async () => {
  const client = newWorkspace();
  const oldest = await subscribe(client, URL);
  await service.knex.raw(
    `insert into subscriptions (id, workspace_id, origin, host, event_types, status, created_at, updated_at)
    select 'wh_' || n, ?, 'https://x.example', 'x.example', '{incident.created}', 'revoked', moment, moment
    from generate_series(1, 1050) as n, (select now() - interval '2 hours' as moment) as earlier`,
    [workspaces],
  );
  const newest = await subscribe(client, URL);
  const { body } = await client.get(PATH);
  const ids = body.webhooks.map(({ id }: { id: string }) => id);
  expect(ids).toEqual([oldest.id, ...Array.from({ length: 998 }, (_, index) => `wh_${index + 53}`), newest.id]);
});

describe('the states of a subscription', () => {
  const COMMANDS = ['verify', 'pause', 'resume', 'revoke', 'rotate-secret'] as const;

  test('an unverified subscription cannot be resumed', async () => {
    const client = newWorkspace();
    const { path } = await subscribe(client, URL);
    expect(await client.post(`${path}/resume`)).toMatchObject(refusal(409, 'invalid_resource_state'));
    expect(await client.post(`${path}/pause`)).toMatchObject({ status: 200, body: { webhook: { status: 'paused' } } });
  });

  test('pausing, resuming and revoking are idempotent', async () => {
    const user = { workspace: { id: (workspaces += 1) } };
    const client = service.as(user);
    const { path } = await activeSubscription(service, URL, user);
    for (const [command, state] of [
      ['resume', 'active'],
      ['pause', 'paused'],
      ['pause', 'paused'],
      ['resume', 'active'],
      ['revoke', 'revoked'],
      ['revoke', 'revoked'],
    ] as const) {
      expect(await client.post(`${path}/${command}`)).toMatchObject({
        status: 200,
        body: { webhook: { status: state } },
      });
    }
  });

  test('updated_at changes with the status, not when a command is repeated', async () => {
    const user = { workspace: { id: (workspaces += 1) } };
    const { path } = await activeSubscription(service, URL, user);
    service.clock.advance(1_000);
    const first = await service.as(user).post(`${path}/pause`);
    expect(first.body.webhook.updated_at).toBe(service.clock.now());
    service.clock.advance(1_000);
    const second = await service.as(user).post(`${path}/pause`);
    expect(second.body.webhook.updated_at).toBe(first.body.webhook.updated_at);
  });

  test.each(COMMANDS.filter((command) => command !== 'revoke'))(
    'a revoked subscription rejects %s',
    async (command) => {
      const client = newWorkspace();
      const { path } = await subscribe(client, URL);
      await client.post(`${path}/revoke`);
      expect(await client.post(`${path}/${command}`)).toMatchObject(refusal(409, 'invalid_resource_state'));
    },
  );

  test('revoking deletes the URL and the secrets', async () => {
    const client = newWorkspace();
    const { id, path } = await subscribe(client, URL);
    await client.post(`${path}/rotate-secret`);
    await client.post(`${path}/revoke`);
    expect(await service.knex('secrets').where({ subscription_id: id }).select('id')).toEqual([]);
    expect(await service.knex('subscriptions').where({ id }).first('url_ciphertext', 'origin')).toEqual({
      url_ciphertext: null,
      origin: 'https://hooks.example.com',
    });
  });
});
