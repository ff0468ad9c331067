import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { createMetrics } from '@tocsin/runtime';
import { accessLog } from '../src/http/access-log.ts';
import type { RequestContext } from '../src/http/request-context.ts';
import { silent } from './gateway-harness.ts';

test('services that invent operations do not make the metric of requests large', async () => {
  const metrics = createMetrics('test');
  const log = accessLog(silent, metrics);
  const request = (id: string) => {
    const response = Object.assign(new EventEmitter(), { statusCode: 200, writableFinished: true });
    const context = { response, method: 'GET', target: { path: '/' }, requestId: 'r', operation: { id } };
    log(context as unknown as RequestContext);
    response.emit('close');
  };
  request('first');
  for (let count = 0; count < 2_500; count += 1) request(`operation${count}`);
  request('first');
  const text = await metrics.getSingleMetricAsString('tocsin_gateway_request_duration_seconds');
  const counts = text.split('\n').filter((line) => line.includes('_count{'));
  expect(counts).toHaveLength(2_001);
  expect(counts).toContainEqual(expect.stringMatching(/operation="first",.* 2$/));
  expect(counts).toContainEqual(expect.stringMatching(/operation="other",.* 501$/));
});
