import { describe, expect, test } from '@jest/globals';
import { eventually, startReceiver } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { running, runningSystem } from './running.ts';

const HOUR = 3_600_000;

// Only the difference between the two clocks matters, not which one is wrong.
describeWithServers('different clocks cause no lost and no additional webhooks', () => {
  describe.each([
    ['the webhook service is an hour ahead', HOUR],
    ['the webhook service is an hour behind', -HOUR],
  ])('%s', (_what, skew) => {
    const receiver = running(startReceiver);
    const webhookClock = { now: () => new Date(Date.now() + skew).toISOString() };
    const system = runningSystem(() => ({ receivers: [receiver], webhookClock }));
    const client = running(async () => system.as());

    const declare = async (title: string) => {
      const { status, body } = await client.post('/api/v1/incidents', { title });
      expect(status).toBe(201);
      return body.incident.human_id as string;
    };
    /** The references of the incidents whose events were received. */
    const received = () =>
      receiver.requests
        .map(({ body }) => JSON.parse(body))
        .filter(({ type }) => type === 'incident.created')
        .map(({ resource }) => resource.reference as string);
    /** Waits until the webhook service has handled all previous events. */
    const drained = async () => {
      const reference = await declare('The last one');
      await eventually(() => received().includes(reference), { what: 'the event of the last incident' });
    };

    test('incidents are sent exactly while the webhook is active', async () => {
      await declare('Before the verification');
      const { body } = await client.post('/api/v1/settings/webhooks', { url: receiver.url() });
      const path = `/api/v1/settings/webhooks/${body.webhook.id}`;
      expect((await client.post(`${path}/verify`)).status).toBe(200);
      const first = await declare('Right after the verification');
      expect((await client.post(`${path}/pause`)).status).toBe(200);
      await declare('While it is paused');
      expect((await client.post(`${path}/resume`)).status).toBe(200);
      const second = await declare('Right after the resumption');
      await drained();
      await eventually(() => received().includes(first) && received().includes(second), { what: 'both events' });
      expect(received()).toHaveLength(3);
    });
  });
});
