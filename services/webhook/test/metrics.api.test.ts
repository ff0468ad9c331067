import { afterAll, expect, test } from '@jest/globals';
import { MemoryBroker } from '@tocsin/messaging';
import { startApp } from '../src/app.ts';
import { webhookConfig } from '../src/config.ts';
import { TEST_SECRET_KEYS } from '@tocsin/testing';

const broker = new MemoryBroker();
const unreachable = 'postgres://nobody@127.0.0.1:1/nothing';
const env = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
  DATABASE_URL: unreachable,
};
const app = await startApp(webhookConfig({ ...env, INCIDENT_URL: 'http://127.0.0.1:1' }), { broker });
afterAll(async () => {
  await app.stop();
  await broker.close();
});

test('while the database is unavailable, all metrics that do not need it are served', async () => {
  const response = await fetch(`${app.url}/metrics`);
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text).toMatch(/^tocsin_webhook_breakers_open\{.*\} 0$/m);
  expect(text).toMatch(/^process_cpu_seconds_total\{/m);
  for (const metric of ['tocsin_webhook_queue_length', 'tocsin_webhook_oldest_due_seconds']) {
    expect(text).not.toMatch(new RegExp(`^${metric}`, 'm'));
    expect(text).toMatch(new RegExp(`^tocsin_metrics_collector_failed\\{metric="${metric}".*\\} 1$`, 'm'));
  }
});
