import { beforeAll, expect, test } from '@jest/globals';
import { type Client, eventually, startSlack } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { running, runningSystem } from '../../../../infra/verification/systems/running.ts';

const INCIDENTS = '/api/v1/incidents';

/** Waits until the provisioning of an incident has ended. */
const provisioned = async (client: Client, id: number) =>
  eventually(
    async () => {
      const { body } = await client.get(`${INCIDENTS}/${id}/provisioning`);
      return ['pending', 'running'].includes(body.provisioning.status) ? undefined : body.provisioning;
    },
    { what: 'the end of the provisioning' },
  );

describeWithServers('an incident with a channel, through all five apps', () => {
  const slack = running(startSlack);
  const system = runningSystem(() => ({ settings: { SLACK_API_URL: slack.url } }));
  const client = running(async () => system.as());
  beforeAll(async () => {
    const template = ['--channel-template', 'inc-{id}-{short_title}'];
    await system.admin('slack', 'connect', '--workspace', 'acme', '--bot-token', slack.token, ...template);
    await system.admin('slack', 'configure', '--workspace', 'acme', '--channel-updates');
    slack.addUsergroup({ handle: 'oncall', users: ['U1', 'U2'] });
  });

  const ask = { title: 'Checkout is down', create_slack_channel: true, invite_usergroups: ['oncall'] };

  test('creates the channel, invites the user groups, and reports the status', async () => {
    const { status, body } = await client.post(INCIDENTS, { ...ask, short_title: 'Checkout' });
    expect(status).toBe(201);
    const { id } = body.incident;
    const done = await provisioned(client, id);
    expect(done).toMatchObject({
      incident_id: id,
      status: 'succeeded',
      steps: [
        { key: 'slack_channel', status: 'succeeded' },
        { key: 'invite_usergroups', status: 'succeeded' },
      ],
    });
    const [channel] = slack.channels;
    expect(channel).toMatchObject({ name: 'inc-1-checkout', purpose: expect.stringContaining('INC-1 of acme') });
    expect(new Set(channel?.members)).toEqual(new Set([slack.user, 'U1', 'U2']));
    const { body: now } = await client.get(`${INCIDENTS}/${id}`);
    expect(now.incident).toMatchObject({ slack_channel_id: channel?.id, revision: 2 });
    const { body: log } = await client.get(`${INCIDENTS}/${id}/changelog`);
    expect(log.changelog).toMatchObject([{ revision: 2, actor: 'slack', changes: [{ field: 'slack_channel_id' }] }]);

    expect((await client.post(`${INCIDENTS}/${id}/resolve`)).status).toBe(200);
    await eventually(() => channel?.messages.length === 1, { what: 'the message in the channel' });
    expect(channel?.messages[0]?.['text']).toBe('INC-1 Checkout is down\nStatus: Open → Resolved');

    const path = `${INCIDENTS}/${id}/slack/channel-name`;
    const named = await client.patch(path, { mode: 'custom', name: 'war-room' });
    expect(named).toMatchObject({ status: 200, body: { channel_name: 'war-room', changed: true } });
    const old = await client.post(`${INCIDENTS}/${id}/rename-slack-channel`);
    expect(old).toMatchObject({ status: 200, body: { channel_name: 'inc-1-checkout' } });
    // Also in responses to callers without permission, which the gateway rejects.
    const reader = await system.as({ scopes: ['incidents:read'] });
    const refused = await reader.post(`${INCIDENTS}/${id}/rename-slack-channel`);
    expect(refused.status).toBe(403);
    for (const answer of [old, refused]) {
      expect(answer.headers.get('Deprecation')).toMatch(/^@\d+$/);
      expect(answer.headers.get('Link')).toBe(`<${path}>; rel="successor-version"`);
      expect(Date.parse(answer.headers.get('Sunset') ?? '')).toBeGreaterThan(Date.parse('2027-05-20'));
    }
  });
});
