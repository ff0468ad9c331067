import { afterAll, describe, expect, test } from '@jest/globals';
import { httpClient, serve, testApp } from '@tocsin/testing';
import { DESCRIPTION_PATH, entityTagOf } from '../src/index.ts';

const DESCRIPTION = Buffer.from('{"openapi":"3.1.0","paths":{}}\n');
const TAG = entityTagOf(DESCRIPTION);

const server = await serve(testApp({ description: DESCRIPTION }));
afterAll(async () => server.close());

describe('the description of a service', () => {
  // Not fetch, which adds a Cache-Control that asks for the whole description.
  const read = async (headers: Record<string, string> = {}) => httpClient(server.url).get(DESCRIPTION_PATH, headers);

  test('is served as it is in the file, with an entity tag of its bytes, without a principal', async () => {
    const response = await read();
    expect([response.status, response.text]).toEqual([200, DESCRIPTION.toString()]);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('etag')).toBe(TAG);
  });

  test.each([TAG, `"other", ${TAG}`, `W/${TAG}`])('is not sent to a client that has it: %s', async (known) => {
    const response = await read({ 'If-None-Match': known });
    expect([response.status, response.headers.get('etag'), response.text]).toEqual([304, TAG, '']);
  });

  test.each(['', '"other"', TAG.slice(1, -1)])('is sent to a client that has another one: %j', async (known) => {
    expect((await read({ 'If-None-Match': known })).status).toBe(200);
  });

  test('cannot be changed', async () => {
    expect((await httpClient(server.url).post(DESCRIPTION_PATH)).status).toBe(404);
  });
});

test('a service without a description serves none', async () => {
  const other = await serve(testApp({}));
  expect((await fetch(new URL(DESCRIPTION_PATH, other.url))).status).toBe(404);
  await other.close();
});
