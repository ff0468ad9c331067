import { describe, expect, test } from '@jest/globals';
import { addMilliseconds } from '@tocsin/runtime';
import { eventually, TEST_SECRET_KEYS } from '@tocsin/testing';
import { deliveryLog } from '../src/administration.ts';
import { activeSubscription, deliveries, publish, settled, serviceWithReceiver } from './service.ts';

const [keyId] = TEST_SECRET_KEYS.split(':') as [string];

const { receiver, service } = await serviceWithReceiver({ overrides: { expiryInterval: 100 } });

/** Moves the clock from one time at which the delivery is due to the next, for so many seconds. */
async function pass(seconds: number): Promise<void> {
  const end = addMilliseconds(service.clock.now(), seconds * 1_000);
  for (;;) {
    const [delivery] = await eventually(async () => {
      const rows = await deliveries(service);
      const isIdle = rows.every(({ lease_token, due_at, status }) => {
        return lease_token === null && (status !== 'queued' || due_at > service.clock.now());
      });
      return isIdle && rows;
    });
    const next = delivery!.status === 'queued' && delivery!.due_at < end ? delivery!.due_at : end;
    service.clock.advance(Date.parse(next) - Date.parse(service.clock.now()));
    if (next === end) return;
  }
}

describe.each([
  [
    'a URL whose key is not configured',
    'undecryptable',
    async () => service.knex('subscriptions').update({ url_key_id: 'lost' }),
    async () => service.knex('subscriptions').update({ url_key_id: keyId }),
  ],
  [
    'a secret whose key is not configured',
    'undecryptable',
    async () => service.knex('secrets').update({ key_id: 'lost' }),
    async () => service.knex('secrets').update({ key_id: keyId }),
  ],
  [
    'a statement that fails before the request',
    'internal',
    async () => service.knex.schema.renameTable('secrets', 'missing'),
    async () => service.knex.schema.renameTable('missing', 'secrets'),
  ],
])('%s', (_case, reason, breakIt, mendIt) => {
  test('uses no attempt, is shown to operators, and the event is delivered when it works again', async () => {
    const { id } = await activeSubscription(service, receiver.url());
    await breakIt();
    await publish(service, {});
    await pass(161);
    await mendIt();

    expect(receiver.requests).toEqual([]);
    const [delivery] = await deliveries(service);
    expect(delivery).toMatchObject({ status: 'queued', attempts: 0, failed_attempts: 0, last_error: reason });
    const log = await deliveryLog(service.knex).delivery(delivery!.id);
    expect(log).toMatchObject({ delivery: { attempts: 0, lastError: reason, internalFailures: 6 }, attempts: [] });
    const metrics = await (await fetch(`${service.app.url}/metrics`)).text();
    expect(metrics).toMatch(new RegExp(`^tocsin_webhook_attempts_total\\{result="${reason}".*\\} [1-9]`, 'm'));
    const { body } = await service.as().get('/api/v1/settings/webhooks');
    expect(body.webhooks).toMatchObject([{ id, status: 'active', last_failure_at: null }]);

    // The longest wait is five minutes.
    await pass(300);
    expect(await settled(service, ({ status }) => status === 'succeeded')).toMatchObject({
      attempts: 1,
      last_error: null,
    });
    expect(receiver.requests).toHaveLength(1);
  });
});
