import { expect, test } from '@jest/globals';
import { eventually, refusal } from '@tocsin/testing';
import { deliveries, publish, serviceWithReceiver } from './service.ts';

const { receiver, service } = await serviceWithReceiver();

const PATH = '/api/v1/settings/webhooks';

test('requests to a receiver have its own headers, which can be replaced', async () => {
  const client = service.as();
  const headers = { Authorization: 'Bearer one', 'X-Api-Key': 'k 1' };
  const { body } = await client.post(PATH, { url: receiver.url(), headers });
  expect(body.webhook.header_names).toEqual(['Authorization', 'X-Api-Key']);
  const path = `${PATH}/${body.webhook.id}`;
  expect(await client.post(`${path}/verify`)).toMatchObject({ status: 200, body: { webhook: { status: 'active' } } });
  expect(receiver.requests.at(-1)?.headers).toMatchObject({ authorization: 'Bearer one', 'x-api-key': 'k 1' });

  const replaced = await client.put(`${path}/headers`, { headers: { authorization: 'Bearer two' } });
  expect(replaced).toMatchObject({
    status: 200,
    body: { webhook: { status: 'active', header_names: ['authorization'] } },
  });
  await publish(service, { id: 1 });
  await eventually(async () => (await deliveries(service))[0]?.status === 'succeeded');
  const { headers: sent } = receiver.requests.at(-1)!;
  expect([sent.authorization, sent['x-api-key'], sent['content-type']]).toEqual([
    'Bearer two',
    undefined,
    'application/json',
  ]);

  await client.put(`${path}/headers`, { headers: {} });
  await publish(service, { id: 2 });
  await eventually(async () => (await deliveries(service))[1]?.status === 'succeeded');
  expect(receiver.requests.at(-1)?.headers.authorization).toBeUndefined();

  await client.post(`${path}/revoke`);
  expect((await client.get(PATH)).body.webhooks).toMatchObject([{ status: 'revoked', header_names: [] }]);
  expect(await client.put(`${path}/headers`, { headers })).toMatchObject(refusal(409, 'invalid_resource_state'));
});
