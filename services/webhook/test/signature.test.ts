import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signedHeaders } from '../src/requests/domain/signature.ts';

const eventId = '6f1c2a52-0f0e-4c53-9d2b-2b1d7f3f9a10';
const body = '{"title":"Zahlung fällt aus 🔥"}';
const current = 'whsec_current';
const previous = 'whsec_previous';
const at = new Date().toISOString();

test('signs the ID, the timestamp and the body with the complete secret', () => {
  const headers = signedHeaders({ eventId, body, at: '2026-11-20T09:30:00.999Z', secrets: [current] });
  const mac = createHmac('sha256', Buffer.from(current, 'utf8')).update(`${eventId}.1795167000.${body}`);
  expect(headers).toEqual({
    'webhook-id': eventId,
    'webhook-timestamp': '1795167000',
    'webhook-signature': `v1,${mac.digest('base64')}`,
  });
});

test('signs with both secrets during an overlap, and each verifies', () => {
  const headers = signedHeaders({ eventId, body, at, secrets: [current, previous] });
  expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
  for (const secret of [current, previous]) {
    expect(new Webhook(secret, { format: 'raw' }).verify(body, headers)).toEqual(JSON.parse(body));
  }
  expect(() => new Webhook('whsec_other', { format: 'raw' }).verify(body, headers)).toThrow();
  expect(() => new Webhook(current, { format: 'raw' }).verify(`${body} `, headers)).toThrow();
});
