import { expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Counter, createMetrics, Gauge } from '../src/index.ts';

/** A registry with a counter, and a gauge whose value comes from `collect`. */
function metricsWith(collect: () => Promise<number>) {
  const metrics = createMetrics('test');
  const registers = [metrics];
  new Counter({ name: 'counted', help: 'A counter', registers }).inc(3);
  new Gauge({
    name: 'looked_up',
    help: 'A gauge',
    registers,
    async collect() {
      this.set(await collect());
    },
  });
  return metrics;
}

test('a metric that cannot be collected is omitted and named until it is back; the others are present', async () => {
  let broken = false;
  const metrics = metricsWith(async () => {
    if (broken) throw new Error('no database');
    return 7;
  });
  const whole = await metrics.metrics();
  expect(whole).toMatch(/^looked_up\{app="test"\} 7$/m);
  expect(whole).not.toMatch(/collector_failed\{/);

  broken = true;
  const partial = await metrics.metrics();
  expect(partial).not.toMatch(/^looked_up/m);
  expect(partial).toMatch(/^counted\{app="test"\} 3$/m);
  expect(partial).toMatch(/^process_cpu_seconds_total\{/m);
  expect(partial).toMatch(/^tocsin_metrics_collector_failed\{metric="looked_up",app="test"\} 1$/m);

  broken = false;
  const again = await metrics.metrics();
  expect(again).toMatch(/^looked_up\{app="test"\} 7$/m);
  expect(again).toMatch(/^tocsin_metrics_collector_failed\{metric="looked_up",app="test"\} 0$/m);
});

test('a metric that takes too long is omitted, and its collection is not started twice', async () => {
  const gate = Promise.withResolvers<number>();
  let begun = 0;
  const metrics = metricsWith(async () => {
    begun += 1;
    return gate.promise;
  });
  const scrapes = await Promise.all([metrics.metrics(), metrics.metrics()]);
  for (const text of scrapes) {
    expect(text).not.toMatch(/^looked_up/m);
    expect(text).toMatch(/^counted\{app="test"\} 3$/m);
    expect(text).toMatch(/collector_failed\{metric="looked_up",app="test"\} 1$/m);
  }
  expect(begun).toBe(1);
  gate.resolve(5);
  await gate.promise;
  expect(await metrics.metrics()).toMatch(/^looked_up\{app="test"\} 5$/m);
});

test('the delay of the event loop is that since the last scrape', async () => {
  const metrics = createMetrics('test');
  const maximum = async () => {
    const text = await metrics.getSingleMetricAsString('tocsin_event_loop_delay_seconds');
    return Number(/statistic="max".*} (\S+)$/m.exec(text)?.[1]);
  };
  // A sample after the block contains it.
  const sample = async () => delay(100);
  await sample();
  const start = performance.now();
  while (performance.now() < start + 500);
  const half = (performance.now() - start) / 2_000;
  await sample();
  expect(await maximum()).toBeGreaterThan(half);
  expect(await maximum()).toBeLessThan(half);
});
