import { afterAll, expect, test } from '@jest/globals';
import { httpClient, refusal } from '@tocsin/testing';
import { PICTURE, startGatewayHarness } from '../gateway-harness.ts';

const gateway = await startGatewayHarness();
afterAll(async () => gateway.close());
const token = await gateway.token();
const client = httpClient(gateway.app.url, {
  Host: 'acme.localhost',
  Authorization: `Bearer ${token}`,
  'Content-Type': 'image/png',
});
const PICTURES = '/api/v1/incidents/1/pictures';
const LIMIT = 3 * 1_048_576;

test('a file reaches its service unchanged, beyond the limit of other bodies', async () => {
  expect((await client.post(PICTURES, PICTURE)).status).toBe(201);
  expect(gateway.lastReceived.bytes?.equals(PICTURE)).toBe(true);
});

test('a file is refused by its own limit, and another body by the usual one', async () => {
  const large = Buffer.alloc(LIMIT + 1);
  expect(await client.post(PICTURES, large)).toMatchObject(
    refusal(413, 'request_body_too_large', { message: `The body must be at most ${LIMIT} bytes` }),
  );
  const json = { 'Content-Type': 'application/json' };
  expect(await client.post('/api/v1/incidents', PICTURE, json)).toMatchObject(
    refusal(413, 'request_body_too_large', { message: 'The body must be at most 1048576 bytes' }),
  );
  expect(await client.post(PICTURES, Buffer.from('{}'), json)).toMatchObject(
    refusal(415, 'unsupported_media_type', { field: 'Content-Type' }),
  );
});

test('a file comes back unchanged, and not again to whom has it', async () => {
  const { status, bytes, headers } = await client.get('/api/v1/pictures/1');
  expect([status, headers.get('content-type'), bytes.equals(PICTURE)]).toEqual([200, 'image/png', true]);
  const again = await client.get('/api/v1/pictures/1', { 'If-None-Match': '"1"' });
  expect([again.status, again.bytes.length]).toEqual([304, 0]);
});
