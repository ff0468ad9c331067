import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { behave, type Receiver, refusal, startReceiver } from '@tocsin/testing';
import { type Overrides } from '../src/app.ts';
import { activeSubscription, publish, settled, startService, subscribe, type TestService } from './service.ts';

let service: TestService;
let receiver: Receiver;
const start = async (overrides: Partial<Overrides> = {}) => {
  receiver = await startReceiver();
  service = await startService({ receivers: [receiver], overrides });
};
afterEach(async () => {
  receiver.closeConnections();
  await service.stop();
  await receiver.stop();
});

const SLOW = Object.entries({
  'that does not respond': behave.hang(),
  'with slow headers': behave.slowHeaders(),
  'with a slow body': behave.slowBody(),
});

/**
 * The delivery, when an attempt has ended. On a busy machine the preparation may take all of the short time, which is an
 * internal failure and no attempt: then the clock moves to the next one.
 */
const attempted = async () =>
  settled(service, ({ attempts, last_error, due_at }) => {
    const wait = Date.parse(due_at) - Date.parse(service.clock.now());
    if (attempts === 0 && last_error === 'internal' && wait > 0) service.clock.advance(wait);
    return attempts >= 1;
  });

describe('with a short timeout', () => {
  test.each(SLOW)('a receiver %s makes the attempt fail, and is tried again', async (_case, behaviour) => {
    await start({ requestTimeout: 500 });
    receiver.respond = () => behaviour;
    await activeSubscription(service, receiver.url());
    await publish(service, {});
    expect(await attempted()).toMatchObject({ status: 'queued', last_error: 'timeout' });
    expect(await service.knex('slots').select('token')).toEqual([]);
  });

  test('a receiver that does not respond is not verified', async () => {
    await start({ requestTimeout: 500 });
    receiver.respond = () => behave.hang();
    const { path } = await subscribe(service.as(), receiver.url());
    expect(await service.as().post(`${path}/verify`)).toMatchObject(
      refusal(409, 'webhook_verification_failed', { details: { reason: 'timeout' } }),
    );
  });
});

test('by default, a receiver has ten seconds', async () => {
  await start();
  receiver.respond = () => behave.hang();
  await activeSubscription(service, receiver.url());
  const nineSeconds = delay(9_000, 'in progress');
  await publish(service, {});
  // Timers may be late, but not early, and they end in their order.
  expect(await Promise.race([nineSeconds, attempted()])).toBe('in progress');
  expect(await attempted()).toMatchObject({ status: 'queued', last_error: 'timeout' });
});
