import { expect, test } from '@jest/globals';
import { behave, eventually } from '@tocsin/testing';
import { activeSubscription, deliveries, incidentCreated, publish, serviceWithReceiver } from './service.ts';

const { receiver, service } = await serviceWithReceiver();

/** Every row of every table as text, with binary columns in hexadecimal. */
async function everyRow(): Promise<string> {
  const { rows: tables } = await service.knex.raw<{ rows: { name: string }[] }>(
    `select tablename as name from pg_tables where schemaname = 'webhook'`,
  );
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await service.knex.raw<{ rows: { text: string }[] }>(`select t::text as text from ?? as t`, [
        name,
      ]);
      return rows.map(({ text }) => text).join('\n');
    }),
  );
  return texts.join('\n');
}

test('secrets and the hidden part of URLs reach only the receiver', async () => {
  const PATH = 'very-hidden-path';
  const KEY = 'very-hidden-key';
  const client = service.as();
  const { secret, path } = await activeSubscription(service, receiver.url(`/${PATH}?key=${KEY}`));
  const CREDENTIAL = 'very-hidden-credential';
  const responses = [
    await client.put(`${path}/headers`, { headers: { Authorization: CREDENTIAL, 'X-Route': 'a' } }),
    await client.get('/api/v1/settings/webhooks'),
    await client.post('/api/v1/settings/webhooks', { url: `https://10.0.0.1/${PATH}?key=${KEY}` }),
    await client.post('/api/v1/settings/webhooks', { url: `https://user:${KEY}@hooks.example.com/${PATH}` }),
  ];
  const rotated = (await client.post(`${path}/rotate-secret`)).body.secret as string;

  // One of each case that is logged: a success, a failure, a broken handshake, checks, and an invalid message.
  await publish(service, { id: 1 });
  await eventually(async () => (await deliveries(service))[0]?.status === 'succeeded');
  receiver.respond = () => behave.answer(500, { 'X-Echo': secret }, `${secret} ${PATH}`);
  await publish(service, { id: 2 });
  await eventually(async () => (await deliveries(service))[1]?.attempts === 1);
  receiver.handshake = 'garbage';
  await publish(service, { id: 3 });
  await eventually(async () => (await deliveries(service))[2]?.attempts === 1);
  responses.push(await client.post(`${path}/verify`));
  receiver.handshake = 'tls';
  responses.push(
    await client.post(`${path}/verify`),
    await client.post(`${path}/pause`),
    await client.post(`${path}/resume`),
  );
  const message = { ...incidentCreated(service), occurred_at: `${KEY} ${secret}` };
  await service.broker.publish([{ id: message.id, type: message.type, body: JSON.stringify(message) }]);

  const metrics = await (await fetch(`${service.app.url}/metrics`)).text();
  const rows = await everyRow();
  const everything = [service.logged(), metrics, rows, ...responses.map(({ text }) => text)].join('\n');
  expect(receiver.requests.length).toBeGreaterThan(0);
  expect(service.logged()).toMatch(/"receiver":"https:\/\/localhost".*"result":"succeeded"/);
  expect(metrics).toMatch(/tocsin_webhook_attempts_total\{result="succeeded"/);
  expect(receiver.requests.map(({ headers }) => headers.authorization)).toContain(CREDENTIAL);
  for (const hidden of [CREDENTIAL, secret, rotated, secret.slice(6), rotated.slice(6), PATH, KEY]) {
    expect(everything.includes(hidden)).toBe(false);
    expect(everything.includes(Buffer.from(hidden).toString('hex'))).toBe(false);
    expect(everything.includes(Buffer.from(hidden).toString('base64').replace(/=+$/, '').slice(0, -1))).toBe(false);
  }
});

test('the log line of an attempt contains the ID of the request that caused it', async () => {
  await activeSubscription(service, receiver.url());
  await publish(service, { id: 9, requestId: 'request-of-the-incident' });
  await eventually(async () => (await deliveries(service))[0]?.status === 'succeeded');
  const lines = service
    .logged()
    .split('\n')
    .filter((text) => text.includes('request-of-the-incident'))
    .map((text) => JSON.parse(text) as unknown);
  expect(lines).toMatchObject([
    {
      level: 'info',
      delivery: expect.any(Number),
      attempt: 1,
      result: 'succeeded',
      status: 204,
      duration: expect.any(Number),
    },
  ]);
});
