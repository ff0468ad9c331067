import { beforeAll, expect, test } from '@jest/globals';
import { type Client, eventually, httpClient, startSlack } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { processesWith } from '../verification/systems/commands.ts';
import { BUSY_MACHINE, localHarness } from '../verification/systems/local-harness.ts';
import { running, runningCommand, runningSystem } from './running.ts';

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

  test('is created while the chat is down; a retry creates the channel', async () => {
    slack.down = true;
    const { status, body } = await client.post(INCIDENTS, ask);
    expect(status).toBe(201);
    const { id } = body.incident;
    const failed = await provisioned(client, id);
    expect(failed).toMatchObject({
      status: 'failed',
      steps: [{ key: 'slack_channel', error_code: 'service_unavailable' }, { key: 'invite_usergroups' }],
    });
    slack.down = false;
    expect((await client.post(`${INCIDENTS}/${id}/provisioning/retry`)).status).toBe(202);
    expect(await provisioned(client, id)).toMatchObject({ status: 'succeeded' });
    const channels = slack.channels.filter(({ purpose }) => purpose.includes('INC-2 of acme'));
    expect(channels.map(({ name }) => name)).toEqual(['inc-2']);
    expect((await client.get(`${INCIDENTS}/${id}`)).body.incident.slack_channel_id).toBe(channels[0]?.id);
  });
});

describeWithServers('a service that is killed after it created a channel and before it stored it', () => {
  const slack = running(startSlack);
  const harness = running(localHarness);
  const services = runningCommand(() => harness.start({ ...BUSY_MACHINE, SLACK_API_URL: slack.url }));

  test('finds the channel again after its restart', async () => {
    const token = await harness.workspace('acme');
    await harness.admin('slack', 'connect', '--workspace', 'acme', '--bot-token', slack.token);
    const client = httpClient(`http://127.0.0.1:${harness.port}`, {
      Host: 'acme.localhost',
      Authorization: `Bearer ${token}`,
    });
    let killed = 0;
    slack.after('conversations.create', async () => {
      for (const [pid, { parent }] of await processesWith('services/incident/src/main.ts')) {
        if (parent === services.pid) process.kill(pid, 'SIGKILL');
        if (parent === services.pid) killed += 1;
      }
    });
    const { body } = await client.post(INCIDENTS, { title: 'Killed', create_slack_channel: true });
    await eventually(() => killed === 1, { what: 'the end of the service' });
    expect(slack.channels).toMatchObject([{ name: 'inc-1', purpose: '' }]);

    // Another worker can claim the step when its lease has expired.
    const done = await eventually(
      async () => {
        const answer = await client.get(`${INCIDENTS}/${body.incident.id}/provisioning`);
        return answer.body.provisioning?.status === 'succeeded' ? answer.body.provisioning : undefined;
      },
      { what: 'the provisioning after the restart' },
    );
    expect(done.steps[0]).toMatchObject({ key: 'slack_channel', attempts: 2 });
    expect(slack.channels).toHaveLength(1);
    const { body: now } = await client.get(`${INCIDENTS}/${body.incident.id}`);
    expect(now.incident.slack_channel_id).toBe(slack.channels[0]?.id);
  });
});
