import { expect, test } from '@jest/globals';
import { behave, refusal, startConnectProxy, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { create, newWorkspace, serviceForFile } from './service.ts';

const NAME = 'calendars.example';

const server = stopAfterAll(await startReceiver({ names: [NAME] }));
const proxy = stopAfterAll(await startConnectProxy());
proxy.targets.set(`${NAME}:443`, server.port);
const service = await serviceForFile(
  { ca: server.ca, resolve: async () => Promise.reject(new Error('the proxy resolves names')) },
  { HTTPS_PROXY: proxy.url.replace('//', '//user:hidden-password@') },
);

test('calendars are read through the proxy of the operator, which sees only the host', async () => {
  server.respond = () =>
    behave.answer(200, { 'content-type': 'text/calendar' }, 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n');
  const client = service.as(newWorkspace());
  const { id } = await create(client, 'team', { name: 'Payments' });
  const set = async (url: string) => client.put(`/api/v1/teams/${id}/on-call`, { kind: 'icalendar', url });
  expect(await set(`https://${NAME}/secret.ics`)).toMatchObject({ status: 200 });
  const authorization = `Basic ${Buffer.from('user:hidden-password').toString('base64')}`;
  expect(proxy.requests).toEqual([{ target: `${NAME}:443`, authorization }]);
  expect(server.requests).toMatchObject([{ path: '/secret.ics' }]);

  proxy.refusal = 403;
  const refused = await set('https://private.example/secret.ics');
  expect(refused).toMatchObject(refusal(400, 'invalid_request', { field: 'url' }));
  expect(refused.text).not.toContain('hidden-password');
  expect(proxy.requests).toHaveLength(2);
  // An address is not asked of the proxy, which would reach it inside of its network.
  expect(await set('https://10.0.0.1/secret.ics')).toMatchObject({ status: 400 });
  expect(proxy.requests).toHaveLength(2);
});
