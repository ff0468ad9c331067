import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, refusal } from '@tocsin/testing';
import { setChannelUpdates } from '../../src/administration.ts';
import { configure } from '../configure.ts';
import { aUser } from '../snapshots.ts';
import { type ChatWorkspace, chatWorkspace, INCIDENTS, startChatTest } from './chat.ts';

const chat = await startChatTest();
const { service, slack, clock } = chat;
afterEach(() => {
  slack.down = false;
  slack.hang = false;
});

/** A workspace that has switched the messages on. */
async function postingWorkspace(): Promise<ChatWorkspace> {
  const workspace = await chatWorkspace(chat);
  await setChannelUpdates(service.knex, workspace.id, true);
  return workspace;
}

/** An incident whose channel has the connection as a member. */
async function withChannel(workspace: ChatWorkspace, properties = {}) {
  const channel = slack.addChannel({ name: `c${slack.channels.length}`, creator: slack.user });
  const { id } = await workspace.declare({ title: 'Checkout is down', slack_channel_id: channel.id, ...properties });
  const path = `${INCIDENTS}/${id}`;
  return {
    ...{ id, channel, path },
    texts: () => channel.messages.map(({ text }) => text),
    change: async (changes: object) => {
      const { revision } = (await workspace.get(id)).body.incident;
      const answer = await workspace.client.patch(path, changes, { 'If-Service-Resource-Version': String(revision) });
      expect(answer.status).toBe(200);
    },
    updates: async () => (await workspace.provisioning(id)).channel_updates,
  };
}

type WithChannel = Awaited<ReturnType<typeof withChannel>>;

/** Waits until nothing is due. The clock passes back-offs only, never the lease of a call. */
const settled = async ({ updates }: WithChannel) =>
  eventually(async () => {
    const now = await updates();
    if (now !== undefined && ['succeeded', 'failed'].includes(now.status)) return now;
    if (now?.status === 'pending' && now.error_code !== undefined) clock.advance(1_000);
    return undefined;
  });

describe('changes of status and severity', () => {
  test('are posted into the channel in their order, and nothing else is', async () => {
    const workspace = await postingWorkspace();
    const incident = await withChannel(workspace);
    await incident.change({ title: 'Search is down', severity: 'sev1', status: 'active' });
    await settled(incident);
    await incident.change({ title: 'Search is slow' });
    await incident.change({ severity: 'sev1' });
    await workspace.client.post(`${incident.path}/resolve`, { resolution_note: 'Rolled back' });
    await settled(incident);
    expect(incident.texts()).toEqual([
      'INC-1 Search is down\nSeverity: SEV 3 → SEV 1\nStatus: Open → Active',
      'INC-1 Search is slow\nStatus: Active → Resolved',
    ]);
    expect(await incident.updates()).toMatchObject({ status: 'succeeded', attempts: 2 });
    expect(await workspace.provisioning(incident.id)).toMatchObject({ status: 'not_requested' });
  });

  test('have labels and a title that are no markup, whatever they contain', async () => {
    const workspace = await postingWorkspace();
    await configure(service.knex, workspace.id, {
      severities: [
        { key: 'sev1', label: '<!here> *bold* & `code`', order: 1, min_score: 2, is_default: true },
        { key: 'sev2', label: '<https://evil.example|Login>', order: 2, min_score: 1, is_default: false },
      ],
    });
    const incident = await withChannel(workspace, { title: '<!channel>\n<@U1> &lt; @here' });
    await incident.change({ severity: 'sev2' });
    await settled(incident);
    expect(incident.channel.messages).toEqual([
      {
        channel: incident.channel.id,
        text: 'INC-1 &lt;!channel&gt; &lt;@U1&gt; &amp;lt; @here\nSeverity: &lt;!here&gt; *bold* &amp; `code` → &lt;https://evil.example|Login&gt;',
        ...{ mrkdwn: 'false', parse: 'none', unfurl_links: 'false', unfurl_media: 'false' },
      },
    ]);
  });

  test('are posted only if the workspace wants it, and only those since then', async () => {
    const workspace = await chatWorkspace(chat);
    const incident = await withChannel(workspace);
    await incident.change({ severity: 'sev1' });
    expect(await incident.updates()).toBeUndefined();
    await setChannelUpdates(service.knex, workspace.id, true);
    await incident.change({ severity: 'sev2' });
    await settled(incident);
    await setChannelUpdates(service.knex, workspace.id, false);
    await incident.change({ severity: 'sev4' });
    await setChannelUpdates(service.knex, workspace.id, true);
    // Another connection keeps the setting.
    await workspace.connect({ botToken: slack.addToken() });
    await incident.change({ severity: 'sev1' });
    await settled(incident);
    expect(incident.texts()).toEqual(
      ['SEV 1 → SEV 2', 'SEV 4 → SEV 1'].map((line) => `INC-1 Checkout is down\nSeverity: ${line}`),
    );
  });

  test('come with the people who lead the response and have roles, in the topic', async () => {
    const workspace = await postingWorkspace();
    const { id } = workspace;
    await service.owners.change(id, (data) => void (data.users = [aUser(42, 'Ana'), aUser(43, 'Ben & <!here>')]));
    await configure(service.knex, id, {
      incident_roles: [
        { key: 'scribe', label: 'Scribe', several_holders: true },
        { key: 'comms', label: 'Communications' },
      ],
    });
    const incident = await withChannel(workspace);
    incident.channel.topic = 'Ours';
    await incident.change({ severity: 'sev1' });
    await settled(incident);
    expect(incident.channel.topic).toBe('Ours');
    slack.limit({ method: 'conversations.setTopic', retryAfter: 1 });
    const roles = { comms: ['42'], scribe: ['43', '42'] };
    await incident.change({ incident_manager: '42', severity: 'sev2', roles });
    await eventually(async () => (await incident.updates())?.error_code === 'rate_limited');
    clock.advance(2_000);
    await settled(incident);
    expect(incident.channel.topic).toBe('Incident manager: Ana · Scribe: Ben & <!here>, Ana · Communications: Ana');
    expect(incident.texts().map((text) => text?.split('\n')[1])).toEqual([
      'Severity: SEV 3 → SEV 1',
      'Severity: SEV 1 → SEV 2',
    ]);
    await incident.change({ incident_manager: '', roles: { comms: [], scribe: [] } });
    await settled(incident);
    expect([incident.channel.topic, incident.texts().length]).toEqual(['', 2]);

    const later = slack.addChannel({ name: 'later', creator: slack.user });
    await incident.change({ roles: { scribe: ['43'] } });
    await incident.change({ slack_channel_id: later.id });
    await settled({ ...incident, channel: later });
    expect(later.topic).toBe('Scribe: Ben & <!here>');
  });

  test('of a restricted incident are not posted while its channel is public', async () => {
    const workspace = await postingWorkspace();
    const incident = await withChannel(workspace);
    await incident.change({ restricted: true });
    await incident.change({ severity: 'sev1' });
    expect(await settled(incident)).toMatchObject({ status: 'failed', error_code: 'invalid_resource_state' });
    const path = `${incident.path}/slack/channel-name`;
    const rename = async (body: object) => workspace.client.patch(path, body);
    expect(await rename({ mode: 'workspace_template' })).toMatchObject(refusal(409, 'invalid_resource_state'));
    expect(await rename({ mode: 'custom', name: `plain-${workspace.id}` })).toMatchObject({ status: 200 });
    expect(incident.texts()).toEqual([]);
    incident.channel.isPrivate = true;
    await workspace.client.post(`${incident.path}/provisioning/retry`);
    expect(await settled(incident)).toMatchObject({ status: 'succeeded' });
    expect(incident.texts()).toEqual(['INC-1 Checkout is down\nSeverity: SEV 3 → SEV 1']);
  });

  test('need a channel', async () => {
    const workspace = await postingWorkspace();
    const { id } = await workspace.declare();
    await workspace.client.post(`${INCIDENTS}/${id}/resolve`);
    expect((await workspace.provisioning(id)).channel_updates).toBeUndefined();
  });

  test('wait as long as Slack says, and are joined when they are several', async () => {
    const workspace = await postingWorkspace();
    const incident = await withChannel(workspace);
    slack.limit({ method: 'chat.postMessage', retryAfter: 600 });
    await incident.change({ severity: 'sev1' });
    await eventually(async () => (await incident.updates())?.error_code === 'rate_limited');
    await incident.change({ severity: 'sev2' });
    await incident.change({ status: 'active' });
    clock.advance(590_000);
    // Another incident's message shows that this one is not due yet.
    const other = await withChannel(workspace);
    await other.change({ severity: 'sev1' });
    await eventually(() => other.texts().length === 1);
    expect(incident.texts()).toEqual([]);
    expect(await settled(incident)).toMatchObject({ status: 'succeeded' });
    expect(incident.texts()).toEqual([
      'INC-1 Checkout is down\nSeverity: SEV 3 → SEV 1\nSeverity: SEV 1 → SEV 2\nStatus: Open → Active',
    ]);
  });

  test('fail visibly after five attempts; a retry or the next change posts them all', async () => {
    const workspace = await postingWorkspace();
    const incident = await withChannel(workspace);
    slack.down = true;
    await incident.change({ severity: 'sev1' });
    expect(await settled(incident)).toMatchObject({ status: 'failed', attempts: 5, error_code: 'service_unavailable' });
    slack.down = false;
    slack.removeChannel(incident.channel.id);
    await incident.change({ severity: 'sev2' });
    expect(await settled(incident)).toMatchObject({ status: 'failed', error_code: 'slack_channel_not_found' });
    slack.channels.push(incident.channel);
    const retry = async (body?: object) => workspace.client.post(`${incident.path}/provisioning/retry`, body);
    expect(await retry({ steps: ['slack_channel'] })).toMatchObject(refusal(409, 'invalid_resource_state'));
    expect(await retry({ steps: ['channel_updates'] })).toMatchObject({ status: 202 });
    expect(await settled(incident)).not.toHaveProperty('error_code');
    expect(incident.texts()).toEqual(['INC-1 Checkout is down\nSeverity: SEV 3 → SEV 1\nSeverity: SEV 1 → SEV 2']);
    expect(await retry()).toMatchObject(refusal(409, 'invalid_resource_state'));
  });

  test.each([
    [
      'without the scope',
      'slack_not_configured',
      () => slack.fail({ method: 'chat.postMessage', error: 'missing_scope' }),
    ],
    [
      'without membership',
      'slack_channel_not_found',
      () => slack.fail({ method: 'chat.postMessage', error: 'not_in_channel' }),
    ],
    ['if Slack refuses', 'internal', () => slack.fail({ method: 'chat.postMessage', error: 'unheard_of' })],
  ])('fail at the first attempt %s', async (_, error_code, prepare) => {
    const incident = await withChannel(await postingWorkspace());
    prepare();
    await incident.change({ severity: 'sev1' });
    expect(await settled(incident)).toMatchObject({ status: 'failed', attempts: 1, error_code });
  });

  test('of many at once are posted each once, by two processes', async () => {
    const workspace = await postingWorkspace();
    const other = await service.startProcess();
    const incidents = await Promise.all(Array.from({ length: 6 }, async () => withChannel(workspace)));
    for (const severity of ['sev1', 'sev2', 'sev4'])
      await Promise.all(incidents.map(async ({ change }) => change({ severity })));
    for (const incident of incidents) {
      await settled(incident);
      const lines = incident.texts().flatMap((text) => text?.split('\n').slice(1));
      expect(lines).toEqual(['SEV 3 → SEV 1', 'SEV 1 → SEV 2', 'SEV 2 → SEV 4'].map((line) => `Severity: ${line}`));
    }
    await other.stop();
  });

  test('do not wait for the chat of another workspace', async () => {
    const [slow, fast] = [await postingWorkspace(), await postingWorkspace()];
    const botToken = slack.addToken();
    await slow.connect({ botToken });
    const released = Promise.withResolvers<void>();
    const stuck = await Promise.all(Array.from({ length: 9 }, async () => withChannel(slow)));
    const hang = async ({ token }: { token: string | undefined }) =>
      token === botToken ? released.promise : undefined;
    for (let calls = 0; calls < 10; calls += 1) slack.before('chat.postMessage', hang);
    for (const { change } of stuck) await change({ severity: 'sev1' });
    await eventually(() => slack.calls.at(-1)?.method === 'chat.postMessage');
    const incident = await withChannel(fast);
    await incident.change({ severity: 'sev1' });
    await eventually(() => incident.texts().length === 1);
    expect(stuck.flatMap(({ texts }) => texts())).toEqual([]);
    released.resolve();
    for (const each of stuck) await settled(each);
  });
});
