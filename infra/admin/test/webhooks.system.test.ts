import { beforeAll, expect, test } from '@jest/globals';
import { behave, eventually, startReceiver } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { runAdmin } from '../run-admin.ts';
import { running, runningSystem } from '../../verification/systems/running.ts';

describeWithServers('webhooks of a running system', () => {
  const receiver = running(startReceiver);
  const system = runningSystem(() => ({ receivers: [receiver] }));
  const client = running(async () => system.as());
  let subscription: string;

  beforeAll(async () => {
    const { body } = await client.post('/api/v1/settings/webhooks', { url: receiver.url('/path?secret=1') });
    subscription = body.webhook.id;
    await client.post(`/api/v1/settings/webhooks/${subscription}/verify`);
  });

  const deliveries = async (...more: string[]) =>
    (await system.admin('webhook', 'deliveries', '--workspace', 'acme', ...more)).deliveries;
  const env = () => ({ DATABASE_URL: system.database.adminUrl, TOCSIN_DATA_DIR: '/nowhere' });

  test('are listed with scheme and host only', async () => {
    const { webhooks } = await system.admin('webhook', 'list', '--workspace', 'acme');
    expect(webhooks).toMatchObject([{ id: subscription, url: 'https://localhost', status: 'active', waiting: 0 }]);
    expect(JSON.stringify(webhooks)).not.toContain('secret');
    const { output = '' } = await runAdmin(['webhook', 'list', '--workspace', 'acme'], env());
    expect(output.split('\n')[1]).toMatch(new RegExp(`^${subscription} +- +https://localhost +active +true +0 +0 `));
  });

  test('a failed delivery is shown with its attempts, and delivered again by the running service', async () => {
    receiver.respond = () => behave.answer(404);
    await client.post('/api/v1/incidents', { title: 'Refused' });
    const [failed] = await eventually(async () => {
      const found = await deliveries('--status', 'failed', '--subscription', subscription);
      return found.length === 1 && found;
    });
    expect(failed).toMatchObject({ incident: 'INC-1', last_error: 'status', last_status: 404, attempts: 1 });

    receiver.respond = () => behave.answer(204);
    const lines: string[] = [];
    const args = ['webhook', 'redeliver', String(failed.id), '--json'];
    const { output = '', error } = await runAdmin(args, env(), (line) => lines.push(line));
    expect(error).toBeUndefined();
    const { delivery: again } = JSON.parse(output);
    expect(again).toMatchObject({
      event_id: failed.event_id,
      redelivery: 1,
      requested_by: expect.stringContaining('@'),
    });
    expect(lines.at(-2)).toMatch(/^using database /);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      msg: 'an operator queued a delivery again',
      delivery: again.id,
      of: failed.id,
      requested_by: again.requested_by,
    });
    await eventually(async () => (await deliveries('--status', 'succeeded')).length === 1);
    const [first, second] = receiver.requests.slice(-2);
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(second!.body).toBe(first!.body);

    const shown = await system.admin('webhook', 'delivery', 'show', String(failed.id));
    expect(shown.delivery).toEqual(failed);
    expect(shown.attempts).toEqual([
      { number: 1, started_at: expect.any(String), duration_ms: expect.any(Number), result: 'status', status: 404 },
    ]);
    const { output: text } = await runAdmin(['webhook', 'delivery', 'show', String(failed.id)], env());
    expect(text).toMatch(/\nattempts\nNUMBER +STARTED_AT +DURATION_MS +RESULT +STATUS\n1 +\S+ \S+Z +\d+ +status +404$/);
  });

  test('a demo workspace sends nothing again', async () => {
    const [delivery] = await deliveries();
    await system.admin('workspace', 'set', '--slug', 'acme', '--demo');
    await expect(system.admin('webhook', 'redeliver', String(delivery.id))).rejects.toThrow(
      'acme is a demo workspace, which sends no webhooks',
    );
  });
});
