import { expect, test } from '@jest/globals';
import { eventually, startRabbitMq, startReceiver, testClock } from '@tocsin/testing';
import { describeWithServersAndOwnRabbitMq } from '@tocsin/testing/suites';
import { running, runningSystem } from './running.ts';

/** Requests per minute to one host (contract: Limits). */
const WINDOW = 10;

describeWithServersAndOwnRabbitMq('while the broker is unavailable', () => {
  const broker = running(startRabbitMq);
  const receiver = running(startReceiver);
  const clock = running(async () => testClock());
  const system = runningSystem(() => ({ amqpUrl: broker.url, receivers: [receiver], webhookClock: clock }));

  test('incidents are created, and after its restart each one reaches the receiver once', async () => {
    const client = await system.as();
    const { body } = await client.post('/api/v1/settings/webhooks', { url: receiver.url() });
    expect((await client.post(`/api/v1/settings/webhooks/${body.webhook.id}/verify`)).status).toBe(200);
    receiver.requests.length = 0;
    clock.toNextMinute();

    await broker.kill();
    const declared: string[] = [];
    for (let count = 0; count < 2 * WINDOW; count += 1) {
      const answer = await client.post('/api/v1/incidents', { title: `Outage ${count}` });
      expect(answer.status).toBe(201);
      declared.push(answer.body.incident.human_id);
    }
    expect(receiver.requests).toHaveLength(0);

    await broker.start();
    const received = () => receiver.requests.map((request) => String(JSON.parse(request.body).resource.reference));
    await eventually(() => received().length === WINDOW, { what: 'the first ten events' });
    // The limit delays the other events to the next minute.
    clock.toNextMinute();
    await eventually(() => received().length === 2 * WINDOW, { what: 'the other ten' });
    expect(received().sort()).toEqual(declared.sort());
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(2 * WINDOW);
  });
});
