import { expect, test } from '@jest/globals';
import { behave, eventually, startReceiver } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { running, runningSystem } from '../../../../infra/verification/systems/running.ts';

const document = behave.answer(
  200,
  { 'Content-Type': 'text/markdown' },
  '- 2026-11-20T10:00:00Z Down\n- 2026-11-20T10:05:00Z Up\n',
);

describeWithServers('a document read into a timeline through the gateway', () => {
  const receiver = running(startReceiver);
  const system = runningSystem(() => ({ receivers: [receiver] }));
  const client = running(async () => system.as());

  const declare = async () =>
    client.post('/api/v1/incidents', {
      title: 'Checkout is down',
      doc_url: receiver.url('/notes'),
      import_source_timeline_event: true,
    });

  test('is in the response, and the webhook describes the incident at its creation', async () => {
    const { webhook } = (await client.post('/api/v1/settings/webhooks', { url: receiver.url('/hook') })).body;
    expect((await client.post(`/api/v1/settings/webhooks/${webhook.id}/verify`)).status).toBe(200);
    receiver.requests.length = 0;
    receiver.respond = ({ path }) => (path === '/notes' ? document : behave.answer(204));

    const { status, headers, body } = await declare();
    expect(status).toBe(201);
    expect(headers.get('Service-Resource-Version')).toBe('2');
    expect(body).toMatchObject({
      incident: { revision: 2, event_count: 2, last_event_summary: 'Up' },
      source_timeline_import: { status: 'imported', event_count: 2 },
    });
    const { events } = (await client.get(`/api/v1/incidents/${body.incident.id}/timeline`)).body;
    expect(events).toMatchObject([{ body: 'Down' }, { body: 'Up' }]);
    const delivered = await eventually(() => receiver.requests.find(({ path }) => path === '/hook'));
    expect(JSON.parse(delivered.body).resource).toMatchObject({ id: body.incident.id, revision: 1 });
  });

  test('is completed by a service that is stopping', async () => {
    let stopping: Promise<void> | undefined;
    receiver.respond =
      ({ path }) =>
      (response) => {
        if (path !== '/hook') stopping = system.stopApp('incident');
        document(response);
      };
    expect((await declare()).body).toMatchObject({ source_timeline_import: { status: 'imported', event_count: 2 } });
    await stopping;
    await system.startApp('incident');
  });
});
