import { afterAll, expect, test } from '@jest/globals';
import { startGatewayHarness } from '../gateway-harness.ts';
import { KEYS, memberOf, USERS } from '../members.ts';

const gateway = await startGatewayHarness();
const owner = await memberOf(gateway, { role: 'owner' });
afterAll(async () => gateway.close());

const keyed = (key: string) => ({ 'Idempotency-Key': key });
const lookUp = async (key: string, { client } = owner) =>
  client.get(`/api/v1/idempotency-keys/${encodeURIComponent(key)}`);

test('a key tells the path of what its create has made, and its status', async () => {
  const { body } = await owner.client.post(USERS, { email: 'keyed@acme.example', name: 'K' }, keyed('of/a?user'));
  const found = await lookUp('of/a?user');
  expect(found.body).toEqual({
    idempotency_key: {
      ...{ key: 'of/a?user', state: 'completed', operation: 'createUser', status: 201 },
      resource_path: `${USERS}/${body.user.id}`,
      created_at: expect.any(String),
      expires_at: expect.any(String),
    },
  });
  const { created_at: from, expires_at: to } = found.body.idempotency_key;
  expect(Date.parse(to) - Date.parse(from)).toBe(24 * 3_600_000);
});

test('the look-up of a key for an API key has no token', async () => {
  const { body } = await owner.client.post(KEYS, { name: 'k', scopes: ['users:read'] }, keyed('of-a-key'));
  const found = await lookUp('of-a-key');
  expect(found.body.idempotency_key.resource_path).toBe(`${KEYS}/${body.api_key.id}`);
  expect(found.text).not.toContain(body.token);
});

test('a refused create with a key has made nothing', async () => {
  await owner.client.post(USERS, { email: owner.user.email, name: 'K' }, keyed('refused'));
  expect((await lookUp('refused')).body.idempotency_key).toMatchObject({ status: 409, resource_path: null });
});

test('nobody knows whether a key is unused while a service cannot be asked', async () => {
  // The services of this test have no internal routes.
  expect((await lookUp('unused')).status).toBe(503);
  const other = await memberOf(gateway, { role: 'owner' });
  expect((await lookUp('refused', other)).status).toBe(503);
});

test('a key that no request could have is refused', async () => {
  expect((await owner.client.get(`/api/v1/idempotency-keys/${'x'.repeat(129)}`)).body).toMatchObject({
    code: 'invalid_request',
  });
});
