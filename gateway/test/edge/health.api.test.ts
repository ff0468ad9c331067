import { describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { eventually, serve } from '@tocsin/testing';
import { openers } from '../gateway-harness.ts';
import type { RawResponse } from '../send-raw.ts';

const PATH = '/api/v1/incidents';
const { opened, open, openService } = openers();

const expectUnavailable = (response: RawResponse) => {
  expect([response.status, response.body.code]).toEqual([503, 'service_unavailable']);
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
};

describe('a stopped process', () => {
  async function startProcess(): Promise<{ child: ChildProcess; url: string }> {
    const child = spawn(process.execPath, [path.join(import.meta.dirname, '../stopped-service.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    opened({ close: () => child.kill('SIGKILL') });
    const [port] = (await once(child.stdout, 'data')) as [Buffer];
    return { child, url: `http://127.0.0.1:${port.toString().trim()}` };
  }

  test('is given up long before the deadline, others are served, and it is used again when it goes on', async () => {
    const { child, url } = await startProcess();
    // Only the health check can end the wait within this test.
    const gateway = await open({ incidentUrl: url, deadline: 120_000 });
    const send = async () => gateway.send({ path: PATH, token: gateway.bearer });
    expect((await send()).status).toBe(200);

    child.kill('SIGSTOP');
    const waiting = Array.from({ length: 20 }, send);
    for (let count = 0; count < 5; count += 1) {
      expect((await gateway.send({ path: '/api/v1/services', token: gateway.bearer })).status).toBe(200);
    }
    for (const response of await Promise.all(waiting)) expectUnavailable(response);
    expectUnavailable(await send());
    const metrics = await gateway.metrics();
    expect(metrics).toMatch(/tocsin_gateway_upstream_available\{upstream="incident",app="gateway"\} 0/);
    expect(metrics).toMatch(
      /tocsin_refusals_total\{reason="service_down",workspace_class="standard",app="gateway"\} 21/,
    );

    child.kill('SIGCONT');
    await eventually(async () => (await send()).status === 200);
  });
});

describe('a service that is slow for some requests', () => {
  test('stays in use: a deadline that passes says nothing about its health', async () => {
    let checks = 0;
    const server = await serve((request, response) => {
      checks += request.url === '/healthz' ? 1 : 0;
      if (request.url?.includes('q=slow') !== true) response.end('{}');
    });
    const service = opened(server);
    const gateway = await open({ incidentUrl: service.url, deadline: 700 });
    const { bearer: token } = gateway;
    const slow = await Promise.all(
      Array.from({ length: 10 }, async () => gateway.send({ path: `${PATH}?q=slow`, token })),
    );
    slow.forEach(expectUnavailable);
    expect(slow[0]?.body.message).toBe('The incident service did not respond within 0.7 seconds');
    expect((await gateway.send({ path: PATH, token })).status).toBe(200);
    // One at a time, however many requests wait.
    expect(checks).toBe(1);
  });

  test('has for each operation the time that its contract declares', async () => {
    const service = await openService(() => undefined);
    const gateway = await open({ incidentUrl: service.url, deadline: 200 });
    expectUnavailable(await gateway.send({ path: PATH, token: gateway.bearer }));
    const description = await gateway.send({ path: '/api/v1/openapi.json' });
    expect(description.body.paths[PATH].get['x-deadline-seconds']).toBe(0.2);
    expect(description.body.paths['/api/v1/services'].get['x-deadline-seconds']).toBe(10);
  });
});
