import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signWebhook, verifyWebhook, WebhookSignatureError } from '../src/index.ts';

const SECRET = 'whsec_3q2A7wEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeI0';
const BODY = JSON.stringify({ id: 'e-1', type: 'incident.created', data: { title: 'Ausfall: Zürich' } });

/** Signs as the service does, which follows Standard Webhooks. */
function signed(secret = SECRET, at = new Date()): Record<string, string> {
  const signature = new Webhook(secret, { format: 'raw' }).sign('e-1', at, BODY);
  return {
    'webhook-id': 'e-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signature,
  };
}

describe('the signature of a webhook request', () => {
  test('is accepted with headers and bodies of every kind', async () => {
    const headers = signed();
    const event = { id: 'e-1', type: 'incident.created' };
    expect(await verifyWebhook(SECRET, headers, BODY)).toMatchObject(event);
    expect(await verifyWebhook(SECRET, new Headers(headers), new TextEncoder().encode(BODY))).toMatchObject(event);
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    expect(await verifyWebhook(SECRET, upper, Buffer.from(BODY))).toMatchObject(event);
  });

  test('is accepted with the old and the new secret while both are valid', async () => {
    const other = signed('whsec_another');
    const headers = {
      ...signed(),
      'webhook-signature': `${other['webhook-signature']} ${signed()['webhook-signature']}`,
    };
    await verifyWebhook(SECRET, headers, BODY);
    await verifyWebhook('whsec_another', headers, BODY);
  });

  test.each([
    ['of another body', signed(), `${BODY} `],
    ['with another secret', signed('whsec_another'), BODY],
    ['of another event', { ...signed(), 'webhook-id': 'e-2' }, BODY],
    ['without a signature', { ...signed(), 'webhook-signature': '' }, BODY],
    ['that is no Base64', { ...signed(), 'webhook-signature': 'v1,%%%' }, BODY],
    [
      'of another version',
      { ...signed(), 'webhook-signature': signed()['webhook-signature']!.replace('v1', 'v2') },
      BODY,
    ],
    ['that is too old', signed(SECRET, new Date(Date.now() - 301_000)), BODY],
    ['from the future', signed(SECRET, new Date(Date.now() + 310_000)), BODY],
    ['without a time', { ...signed(), 'webhook-timestamp': 'now' }, BODY],
  ])('%s is refused', async (_, headers, body) => {
    await expect(verifyWebhook(SECRET, headers, body)).rejects.toThrow(WebhookSignatureError);
  });

  test('is made as the service makes it', async () => {
    const headers = await signWebhook(SECRET, { id: 'e-1', body: BODY });
    expect(new Webhook(SECRET, { format: 'raw' }).verify(BODY, headers)).toMatchObject({ id: 'e-1' });
  });
});
