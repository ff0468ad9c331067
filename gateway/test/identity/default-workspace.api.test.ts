import { afterAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { startGatewayHarness } from '../gateway-harness.ts';

const run = promisify(execFile);
const PATH = '/api/v1/incidents';

const gateway = await startGatewayHarness({ env: { DEFAULT_WORKSPACE: 'acme' } });
const token = await gateway.token();
const { port } = new URL(gateway.app.url);
afterAll(async () => gateway.close());

const hasIPv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);
const hosts = ['localhost', '127.0.0.1', ...(hasIPv6 ? ['[::1]'] : [])];

describe('with a default workspace', () => {
  test.each(['localhost', 'localhost:8080', '127.0.0.1', '[::1]:8080', '192.0.2.7'])('%s is its host', async (host) => {
    expect((await gateway.send({ path: PATH, token, host })).status).toBe(200);
    expect((await gateway.send({ path: PATH, host })).status).toBe(401);
  });

  test('its own host works as before, and another workspace keeps its own', async () => {
    expect((await gateway.send({ path: PATH, token })).status).toBe(200);
    expect((await gateway.send({ path: PATH, token, host: 'globex.localhost' })).status).toBe(404);
  });

  test.each(hosts)('fetch reaches it at %s', async (host) => {
    const response = await fetch(`http://${host}:${port}${PATH}`, { headers: { Authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
  });

  const url = () => `http://localhost:${port}${PATH}`;
  const python = [
    'import sys, urllib.request',
    'request = urllib.request.Request(sys.argv[1], headers={"Authorization": sys.argv[2]})',
    'print(urllib.request.urlopen(request).read().decode())',
  ].join('\n');
  test.each([
    ['curl', (bearer: string) => ['-sS', url(), '-H', `Authorization: ${bearer}`]],
    ['wget', (bearer: string) => ['-qO-', `--header=Authorization: ${bearer}`, url()]],
    ['python3', (bearer: string) => ['-c', python, url(), bearer]],
  ])('%s reaches it at localhost, where it is installed', async (command, argumentsFor) => {
    const output = await run(command, argumentsFor(`Bearer ${token}`)).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return undefined;
    });
    if (output !== undefined) expect(JSON.parse(output.stdout)).toEqual({ route: 'listIncidents' });
  });
});

test('the answer for a host without a workspace says what a host looks like, and is the same for all', async () => {
  const bodies = [];
  for (const host of ['nobody.localhost', 'example.com', 'a.b.localhost']) {
    const { status, body } = await gateway.send({ path: PATH, host });
    expect(status).toBe(404);
    bodies.push({ ...body, request_id: '' });
  }
  expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  expect(bodies[0].message).toContain('<workspace>.localhost');
  expect(bodies[0].message).toContain('/docs');
});
