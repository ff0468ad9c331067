import { afterAll, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { openDatabase } from '@tocsin/postgres';
import { createLogger } from '@tocsin/runtime';
import { asUser, createTestDatabase, eventually, httpClient, serve, testApp } from '@tocsin/testing';
import { z } from 'zod';
import { type Contracts, endpoint, implement } from '../../src/index.ts';

const logged: string[] = [];

const shared = { tag: 'Things', scope: 'teams:write', reply: { status: 204 } } as const;
const contracts = {
  raise: {
    ...endpoint('GET', '/raise/{state}', 'Fail in the database'),
    ...shared,
    params: z.strictObject({ state: z.string() }),
  },
  upload: { ...endpoint('POST', '/upload', 'Upload a body'), ...shared, body: z.strictObject({ name: z.string() }) },
} as const satisfies Contracts;

const routes = implement(contracts, {
  raise: async ({ params }) => {
    await knex.raw(`do $$ begin raise exception using errcode = '${params.state}'; end $$`);
    return {};
  },
  upload: async () => ({}),
});

const database = await createTestDatabase();
const knex = openDatabase({ url: database.adminUrl, schema: 'public', application: 'test', poolSize: 2 });
const destination = { write: (line: string) => void logged.push(line) };
const log = createLogger({ app: 'test', level: 'info', destination });
const server = await serve(testApp({ routes, log }));
const client = httpClient(server.url, asUser('test'));
afterAll(async () => {
  await server.close();
  await knex.destroy();
  await database.drop();
});

test.each(['57P01', '25006', '53100', '53200', '42P01', '42703', '57014', '40P01', '40001', '55P03', '58030'])(
  'a database failure with %s is a 503 with Retry-After',
  async (state) => {
    const { status, body, headers } = await client.get(`/raise/${state}`);
    expect([status, body.code, headers.get('Retry-After')]).toEqual([503, 'service_unavailable', '1']);
  },
);

test('a statement that the database rejects is a 500', async () => {
  const { status, body } = await client.get('/raise/22003');
  expect([status, body.code]).toEqual([500, 'internal']);
});

test('a client that disconnects during its upload is neither a database failure nor logged as an error', async () => {
  logged.length = 0;
  const ended = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return text.split('\n').some((line) => /_count\{.*route="upload"/.test(line));
  };
  const socket = connect(server.port, '127.0.0.1');
  socket.write(
    [
      'POST /upload HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Content-Length: 1000',
      `x-tocsin-principal: ${asUser('test')['x-tocsin-principal']}`,
      '',
      '{"name":',
    ].join('\r\n'),
  );
  // The response to a later request shows that the first one has been read.
  await client.get('/raise/22003');
  socket.resetAndDestroy();
  await eventually(ended, { what: 'the end of the upload' });
  await client.get('/raise/22003');
  expect(logged.filter((line) => line.includes('/upload'))).toEqual([]);
});
