import { describe, expect, test } from '@jest/globals';
import http from 'node:http';
import { eventually } from '@tocsin/testing';
import { type GatewayHarness, openers } from '../gateway-harness.ts';
import { openConnection, type RawConnection } from '../send-raw.ts';

const PATH = '/api/v1/incidents';
const { opened, open: openGateway, openService } = openers();
const open = async (env: Record<string, string>, incidentUrl?: string) =>
  openGateway({ env, ...(incidentUrl !== undefined && { incidentUrl }) });

/** @param from a loopback address */
function connectTo({ app }: GatewayHarness, from?: string): RawConnection {
  const connection = openConnection(app.url, '', from);
  opened({ close: () => connection.destroy() });
  return connection;
}

const request = (gateway: { bearer: string }) =>
  `GET ${PATH} HTTP/1.1\r\nHost: acme.localhost\r\nAuthorization: Bearer ${gateway.bearer}\r\n\r\n`;

/** A service whose requests wait until the test ends. */
const startWaitingService = async () => openService(() => undefined);

const metric = async ({ metrics }: GatewayHarness, reason: string) =>
  Number(new RegExp(`connections_closed_total\\{reason="${reason}"[^}]*\\} (\\d+)`).exec(await metrics())?.[1] ?? 0);

describe('too many connections', () => {
  test('of one network that send nothing: the oldest make room for new ones', async () => {
    const gateway = await open({ MAX_CONNECTIONS_PER_NETWORK: '5' });
    const idle = Array.from({ length: 50 }, () => connectTo(gateway));
    await eventually(() => idle.filter(({ closed }) => closed).length === 45);
    expect((await gateway.send({ path: PATH, token: gateway.bearer })).status).toBe(200);
    expect(await metric(gateway, 'idle')).toBeGreaterThanOrEqual(46);
    expect(await metric(gateway, 'refused')).toBe(0);
  });

  test('of one network that are busy: new ones of this network are closed at once, and not those of others', async () => {
    const service = await startWaitingService();
    const gateway = await open({ MAX_CONNECTIONS_PER_NETWORK: '5', MAX_CONNECTIONS: '8' }, service.url);
    const busy = Array.from({ length: 5 }, () => connectTo(gateway));
    for (const socket of busy) socket.write(request(gateway));
    await eventually(() => service.requests === 5);

    const refused = connectTo(gateway);
    await eventually(() => refused.closed);
    expect(await metric(gateway, 'refused')).toBe(1);
    const other = connectTo(gateway, '127.0.0.2');
    other.write(request(gateway).replace(PATH, '/api/v1/services'));
    await eventually(() => other.received.startsWith('HTTP/1.1 200'));
    expect(busy.filter(({ closed }) => closed)).toEqual([]);
  });

  test('in all: a kept connection without a request is closed for a new one', async () => {
    const gateway = await open({ MAX_CONNECTIONS: '2' });
    const [first, second] = [connectTo(gateway, '127.0.0.2'), connectTo(gateway, '127.0.0.3')];
    for (const socket of [first, second]) socket.write(request(gateway));
    await eventually(() => [first, second].every(({ received }) => received.includes('listIncidents')));
    const third = connectTo(gateway, '127.0.0.4');
    third.write(request(gateway));
    await eventually(() => third.received.startsWith('HTTP/1.1 200'));
    await eventually(() => [first, second].filter(({ closed }) => closed).length === 1);
  });

  test('of a trusted proxy count only in all', async () => {
    const service = await startWaitingService();
    const env = { MAX_CONNECTIONS_PER_NETWORK: '1', TRUSTED_PROXIES: '127.0.0.1' };
    const gateway = await open(env, service.url);
    const busy = Array.from({ length: 5 }, () => connectTo(gateway));
    for (const socket of busy) socket.write(request(gateway));
    await eventually(() => service.requests === 5);
  });

  test('a connection that was closed is no longer counted', async () => {
    const gateway = await open({ MAX_CONNECTIONS_PER_NETWORK: '1' });
    for (let count = 0; count < 5; count += 1) {
      const agent = new http.Agent({ keepAlive: true });
      for (let reused = 0; reused < 2; reused += 1) {
        expect((await gateway.send({ path: PATH, token: gateway.bearer, agent })).status).toBe(200);
      }
      agent.destroy();
    }
    expect(await metric(gateway, 'refused')).toBe(0);
  });
});

test('a client that does not send its headers is disconnected', async () => {
  const gateway = await open({});
  const slow = connectTo(gateway);
  slow.write('GET /healthz HTTP/1.1\r\nHost: a\r\n');
  await eventually(() => slow.received.startsWith('HTTP/1.1 408 '));
});

test('responses are not compressed, whatever the client accepts', async () => {
  const gateway = await open({});
  const response = await gateway.send({
    path: PATH,
    token: gateway.bearer,
    headers: { 'Accept-Encoding': 'gzip, br' },
  });
  expect(response.headers).not.toHaveProperty('content-encoding');
});
