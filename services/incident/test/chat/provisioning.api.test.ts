import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, refusal } from '@tocsin/testing';
import type { ProvisioningWire } from '../../src/chat/http/wire.ts';
import { type ChatWorkspace, chatWorkspace, INCIDENTS, startChatTest, stepOf } from './chat.ts';

const chat = await startChatTest();
afterEach(() => {
  chat.slack.down = false;
  chat.slack.hang = false;
});

/** Waits until all steps have ended. The clock passes back-offs only, never the lease of a call. */
const provisionedLater = async (workspace: ChatWorkspace, incidentId: number): Promise<ProvisioningWire> =>
  eventually(async () => {
    const now = await workspace.provisioning(incidentId);
    if (now.status !== 'pending' && now.status !== 'running') return now;
    if (now.steps.some((step) => step.status === 'pending' && step.error_code !== undefined)) chat.clock.advance(5_000);
    return undefined;
  });

describe('an incident that requests a channel', () => {
  test('gets one with its members, and a new revision and changelog entry', async () => {
    const workspace = await chatWorkspace(chat);
    chat.slack.addUsergroup({ handle: 'oncall', users: ['U1', 'U2'] });
    chat.slack.addUsergroup({ handle: 'support', users: ['U2', 'U3'] });
    const declared = await workspace.declare({
      short_title: 'DB down',
      create_slack_channel: true,
      invite_usergroups: ['@oncall', 'Support', 'oncall '],
    });
    expect(declared).toMatchObject({ slack_channel_id: '', revision: 1 });

    const done = await workspace.provisioned(declared.id);
    expect(done).toMatchObject({ incident_id: declared.id, status: 'succeeded' });
    expect(stepOf(done, 'slack_channel')).toEqual({ key: 'slack_channel', status: 'succeeded', attempts: 1 });
    expect(stepOf(done, 'invite_usergroups')).toEqual({ key: 'invite_usergroups', status: 'succeeded', attempts: 1 });

    const name = `w${workspace.id}-1-db-down`;
    const channels = chat.slack.channels.filter((channel) => channel.name === name);
    expect(channels).toHaveLength(1);
    const [channel] = channels;
    expect(channel?.purpose).toContain(`INC-1 of workspace-${workspace.id}`);
    expect(new Set(channel?.members)).toEqual(new Set([chat.slack.user, 'U1', 'U2', 'U3']));

    const { body } = await workspace.get(declared.id);
    expect(body.incident).toMatchObject({ slack_channel_id: channel?.id, revision: 2 });
    const { body: log } = await workspace.client.get(`${INCIDENTS}/${declared.id}/changelog`);
    expect(log.changelog).toMatchObject([
      {
        revision: 2,
        actor: 'slack',
        api_key: null,
        changes: [{ field: 'slack_channel_id', from: '', to: channel?.id }],
      },
    ]);
    const event = await eventually(() =>
      chat.published.find(({ type, data }) => type === 'incident.updated' && data.incident.id === declared.id),
    );
    expect(event.data).toMatchObject({
      incident: { revision: 2, slack_channel_id: channel?.id },
      changes: [{ field: 'slack_channel_id', from: '', to: channel?.id }],
    });
  });

  test('gets a private one with nobody but whom the request names, if it is restricted', async () => {
    const workspace = await chatWorkspace(chat);
    chat.slack.addUsergroup({ handle: `legal-${workspace.id}`, users: ['U7'] });
    // Its first attempt breaks off: the next one finds the channel, which others cannot see.
    chat.slack.after('conversations.create', () => void (chat.slack.down = true));
    const request = { create_slack_channel: true, invite_usergroups: [`legal-${workspace.id}`], restricted: true };
    const { id } = await workspace.declare(request);
    await eventually(async () => (await workspace.provisioning(id)).steps[0]?.error_code !== undefined);
    chat.slack.down = false;
    expect(await provisionedLater(workspace, id)).toMatchObject({ status: 'succeeded' });
    const channel = chat.slack.channels.find(({ name }) => name === `w${workspace.id}-1`);
    expect(channel).toMatchObject({ isPrivate: true, members: [chat.slack.user, 'U7'] });
    expect((await workspace.get(id)).body.incident.slack_channel_id).toBe(channel?.id);
  });

  test('is created while the chat is down, shows the failed step, and gets the channel after a retry', async () => {
    const workspace = await chatWorkspace(chat);
    chat.slack.down = true;
    const incident = await workspace.declare({ create_slack_channel: true, invite_usergroups: ['oncall'] });
    const failed = await provisionedLater(workspace, incident.id);
    expect(failed.status).toBe('failed');
    expect(stepOf(failed, 'slack_channel')).toEqual({
      key: 'slack_channel',
      status: 'failed',
      attempts: 5,
      error_code: 'service_unavailable',
    });
    expect(stepOf(failed, 'invite_usergroups')).toEqual({
      key: 'invite_usergroups',
      status: 'failed',
      attempts: 0,
      error_code: 'service_unavailable',
    });
    expect((await workspace.get(incident.id)).body.incident).toMatchObject({ slack_channel_id: '', revision: 1 });

    chat.slack.down = false;
    const retried = await workspace.client.post(`${INCIDENTS}/${incident.id}/provisioning/retry`);
    expect(retried).toMatchObject({ status: 202, body: { provisioning: { status: 'pending' } } });
    const done = await workspace.provisioned(incident.id);
    expect(done.status).toBe('succeeded');
    expect(stepOf(done, 'slack_channel')).toEqual({ key: 'slack_channel', status: 'succeeded', attempts: 6 });
    expect(chat.slack.channels.filter(({ name }) => name === `w${workspace.id}-1`)).toHaveLength(1);
    const again = await workspace.client.post(`${INCIDENTS}/${incident.id}/provisioning/retry`);
    expect(again).toMatchObject(refusal(409, 'invalid_resource_state'));
  });

  test('waits as long as the chat requests, without counting a failure', async () => {
    const workspace = await chatWorkspace(chat);
    chat.slack.limit({ method: 'conversations.create', calls: 6, retryAfter: 30 });
    const incident = await workspace.declare({ create_slack_channel: true });
    const waiting = await eventually(async () => {
      const step = stepOf(await workspace.provisioning(incident.id), 'slack_channel');
      return 'error_code' in step && step.status === 'pending' ? step : undefined;
    });
    expect(waiting).toEqual({ key: 'slack_channel', status: 'pending', attempts: 1, error_code: 'rate_limited' });
    const done = await provisionedLater(workspace, incident.id);
    expect(stepOf(done, 'slack_channel')).toEqual({ key: 'slack_channel', status: 'succeeded', attempts: 7 });
  });

  test('keeps requesting the same name after its severity changes', async () => {
    const workspace = await chatWorkspace(chat);
    await workspace.connect({ channelTemplate: `w${workspace.id}-{id}-{severity}` });
    const { slack } = chat;
    slack.after('conversations.create', () => void (slack.down = true));
    const incident = await workspace.declare({ create_slack_channel: true, severity: 'sev3' });
    await eventually(async () => (await workspace.provisioning(incident.id)).steps[0]?.error_code !== undefined);
    const change = { 'If-Service-Resource-Version': '1' };
    await workspace.client.patch(`${INCIDENTS}/${incident.id}`, { severity: 'sev1' }, change);
    slack.down = false;
    await provisionedLater(workspace, incident.id);
    const names = slack.channels.map(({ name }) => name).filter((name) => name.startsWith(`w${workspace.id}-`));
    expect(names).toEqual([`w${workspace.id}-1-sev3`]);
  });
});

describe('a step that cannot succeed', () => {
  test.each([
    ['without a connection', 'slack_not_configured'],
    ['with a revoked token', 'slack_not_configured'],
    ['when another channel has the name', 'slack_channel_name_taken'],
    ['when a channel of another incident has the name', 'slack_channel_name_taken'],
    ['when the chat refuses', 'internal'],
  ])('%s fails at the first attempt with %s and can be retried', async (situation, code) => {
    const workspace = await chatWorkspace(chat, { connected: situation !== 'without a connection' });
    const { slack } = chat;
    const name = `w${workspace.id}-1`;
    if (situation === 'with a revoked token') {
      const botToken = slack.addToken();
      slack.revoke(botToken);
      await workspace.connect({ botToken });
    }
    if (situation === 'when another channel has the name') slack.addChannel({ name });
    if (situation === 'when a channel of another incident has the name') {
      slack.addChannel({ name, creator: slack.user, purpose: 'INC-1 of elsewhere, opened by Tocsin [000000000000]' });
    }
    if (situation === 'when the chat refuses') slack.fail({ method: 'conversations.create', error: 'unheard_of' });

    const incident = await workspace.declare({ create_slack_channel: true });
    const failed = await workspace.provisioned(incident.id);
    expect(failed.status).toBe('failed');
    expect(stepOf(failed, 'slack_channel')).toEqual({
      key: 'slack_channel',
      status: 'failed',
      attempts: 1,
      error_code: code,
    });

    await workspace.connect({ channelTemplate: `w${workspace.id}-other-{id}` });
    await workspace.client.post(`${INCIDENTS}/${incident.id}/provisioning/retry`);
    expect((await workspace.provisioned(incident.id)).status).toBe('succeeded');
  });

  test('a channel that another workspace is creating is not linked', async () => {
    const [one, other] = [await chatWorkspace(chat), await chatWorkspace(chat)];
    for (const workspace of [one, other]) await workspace.connect({ channelTemplate: `shared-${one.id}-{id}` });
    // One workspace has created its channel without a purpose while the other requests the same name twice.
    const purposeAllowed = Promise.withResolvers<void>();
    chat.slack.before('conversations.setPurpose', async () => purposeAllowed.promise);
    const first = await one.declare({ create_slack_channel: true });
    await eventually(() => chat.slack.channels.some(({ name }) => name === `shared-${one.id}-1`));
    chat.slack.fail({ method: 'conversations.create', status: 500 });
    const second = await other.declare({ create_slack_channel: true });
    await eventually(async () => (await other.provisioning(second.id)).steps[0]?.error_code !== undefined);
    chat.clock.advance(1_500);
    const refused = await other.provisioned(second.id);
    purposeAllowed.resolve();
    expect(stepOf(refused, 'slack_channel')).toEqual({
      key: 'slack_channel',
      status: 'failed',
      attempts: 2,
      error_code: 'slack_channel_name_taken',
    });
    expect((await one.provisioned(first.id)).status).toBe('succeeded');
    expect((await other.get(second.id)).body.incident.slack_channel_id).toBe('');
  });

  test('a new channel that another client created with our connection is not linked at the first attempt', async () => {
    const workspace = await chatWorkspace(chat);
    chat.slack.addChannel({ name: `w${workspace.id}-1`, creator: chat.slack.user });
    const incident = await workspace.declare({ create_slack_channel: true });
    expect(stepOf(await workspace.provisioned(incident.id), 'slack_channel')).toMatchObject({
      attempts: 1,
      error_code: 'slack_channel_name_taken',
    });
  });

  test('an old channel of ours without a purpose is not linked', async () => {
    const workspace = await chatWorkspace(chat);
    const channel = chat.slack.addChannel({ name: `w${workspace.id}-1`, creator: chat.slack.user });
    channel.created -= 3_600;
    chat.slack.fail({ method: 'conversations.create', status: 500 });
    const incident = await workspace.declare({ create_slack_channel: true });
    const failed = await provisionedLater(workspace, incident.id);
    expect(stepOf(failed, 'slack_channel')).toMatchObject({
      attempts: 2,
      error_code: 'slack_channel_name_taken',
    });
  });

  test('a missing group fails only the invitation step, and the other groups are invited', async () => {
    const workspace = await chatWorkspace(chat);
    chat.slack.addUsergroup({ handle: `group-${workspace.id}`, users: ['U7'] });
    const incident = await workspace.declare({
      create_slack_channel: true,
      invite_usergroups: [`group-${workspace.id}`, 'nobody-has-this'],
    });
    const partial = await workspace.provisioned(incident.id);
    expect(partial.status).toBe('partial');
    expect(stepOf(partial, 'invite_usergroups')).toMatchObject({ status: 'failed', error_code: 'not_found' });
    expect(chat.slack.channels.find(({ name }) => name === `w${workspace.id}-1`)?.members).toContain('U7');

    const wrong = await workspace.client.post(`${INCIDENTS}/${incident.id}/provisioning/retry`, {
      steps: ['slack_channel'],
    });
    expect(wrong).toMatchObject(refusal(409, 'invalid_resource_state'));
    chat.slack.addUsergroup({ handle: 'nobody-has-this', users: ['U8'] });
    const right = await workspace.client.post(`${INCIDENTS}/${incident.id}/provisioning/retry`, {
      steps: ['invite_usergroups'],
    });
    expect(right.status).toBe(202);
    expect((await workspace.provisioned(incident.id)).status).toBe('succeeded');
  });
});

describe('a step that was not requested', () => {
  test('is shown as not_requested and cannot be retried', async () => {
    const workspace = await chatWorkspace(chat);
    const calls = chat.slack.calls.length;
    const incident = await workspace.declare({ invite_usergroups: [] });
    const record = await workspace.provisioning(incident.id);
    expect(record).toMatchObject({ incident_id: incident.id, status: 'not_requested' });
    for (const key of ['slack_channel', 'invite_usergroups']) {
      expect(stepOf(record, key)).toEqual({ key, status: 'not_requested', attempts: 0 });
    }
    const retried = await workspace.client.post(`${INCIDENTS}/${incident.id}/provisioning/retry`, {});
    expect(retried).toMatchObject(refusal(409, 'invalid_resource_state'));
    expect(chat.slack.calls).toHaveLength(calls);
  });

  test('users are invited into a channel that was linked at creation', async () => {
    const workspace = await chatWorkspace(chat);
    const channel = chat.slack.addChannel({ name: `linked-${workspace.id}`, creator: chat.slack.user });
    chat.slack.addUsergroup({ handle: `team-${workspace.id}`, users: ['U9'] });
    const incident = await workspace.declare({
      slack_channel_id: channel.id,
      invite_usergroups: [`team-${workspace.id}`],
    });
    const done = await workspace.provisioned(incident.id);
    expect(done.status).toBe('succeeded');
    expect(stepOf(done, 'slack_channel')).toMatchObject({ status: 'not_requested' });
    expect(channel.members).toContain('U9');
  });

  test('invitations without a channel fail, and succeed after one is linked', async () => {
    const workspace = await chatWorkspace(chat);
    const incident = await workspace.declare({ invite_usergroups: ['oncall'] });
    expect(stepOf(await workspace.provisioned(incident.id), 'invite_usergroups')).toMatchObject({
      error_code: 'incident_slack_channel_missing',
    });
    const channel = chat.slack.addChannel({ name: `later-${workspace.id}`, creator: chat.slack.user });
    await workspace.client.patch(
      `${INCIDENTS}/${incident.id}`,
      { slack_channel_id: channel.id },
      { 'If-Service-Resource-Version': '1' },
    );
    await workspace.client.post(`${INCIDENTS}/${incident.id}/provisioning/retry`);
    expect((await workspace.provisioned(incident.id)).status).toBe('succeeded');
  });
});

describe('a channel that is requested later', () => {
  const request = async ({ client }: ChatWorkspace, id: number, body?: object) =>
    client.post(`${INCIDENTS}/${id}/provisioning`, body);

  test('is made as that of a create, once', async () => {
    const workspace = await chatWorkspace(chat);
    chat.slack.addUsergroup({ handle: `later-${workspace.id}`, users: ['U7'] });
    await workspace.connect({ channelTemplate: `l${workspace.id}-{id}-{short_title}` });
    const incident = await workspace.declare();
    const invite_usergroups = [`later-${workspace.id}`];
    const requested = await request(workspace, incident.id, { short_title: 'Störung', invite_usergroups });
    expect(requested).toMatchObject({ status: 202, body: { provisioning: { incident_id: incident.id } } });
    expect((await workspace.provisioned(incident.id)).status).toBe('succeeded');
    const [channel, ...others] = chat.slack.channels.filter(({ name }) => name.startsWith(`l${workspace.id}-`));
    expect(channel).toMatchObject({ name: `l${workspace.id}-1-storung`, members: expect.arrayContaining(['U7']) });
    expect(others).toEqual([]);
    expect((await workspace.get(incident.id)).body.incident).toMatchObject({ slack_channel_id: channel?.id });
    expect(await request(workspace, incident.id)).toMatchObject(refusal(409, 'invalid_resource_state'));
  });

  test('is refused beside another one, for an archived incident, and with an invalid short title', async () => {
    const workspace = await chatWorkspace(chat);
    const linked = await workspace.declare({ slack_channel_id: 'C1' });
    const failed = await workspace.declare({ invite_usergroups: ['oncall'] });
    const archived = await workspace.declare();
    await workspace.client.post(`${INCIDENTS}/${archived.id}/archive`);
    for (const { id } of [linked, failed, archived])
      expect(await request(workspace, id)).toMatchObject(refusal(409, 'invalid_resource_state'));
    const incident = await workspace.declare();
    const long = await request(workspace, incident.id, { short_title: 'thirteen char' });
    expect(long).toMatchObject({ ...refusal(400, 'invalid_request'), body: { field: 'short_title' } });
    expect((await workspace.provisioning(incident.id)).status).toBe('not_requested');
  });

  test('waits for requests at the same time: one of them is accepted', async () => {
    const workspace = await chatWorkspace(chat);
    const incident = await workspace.declare();
    const answers = await Promise.all(Array.from({ length: 5 }, async () => request(workspace, incident.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409]);
    expect((await workspace.provisioned(incident.id)).status).toBe('succeeded');
  });
});

describe('an archived incident', () => {
  test('gets no channel and rejects a retry until it is restored', async () => {
    const workspace = await chatWorkspace(chat);
    chat.slack.down = true;
    const incident = await workspace.declare({ create_slack_channel: true });
    await eventually(async () => (await workspace.provisioning(incident.id)).steps[0]?.error_code !== undefined);
    await workspace.client.post(`${INCIDENTS}/${incident.id}/archive`);
    chat.slack.down = false;
    const failed = await provisionedLater(workspace, incident.id);
    expect(stepOf(failed, 'slack_channel')).toMatchObject({ status: 'failed', error_code: 'invalid_resource_state' });
    const refused = await workspace.client.post(`${INCIDENTS}/${incident.id}/provisioning/retry`);
    expect(refused).toMatchObject(refusal(409, 'invalid_resource_state'));
    await workspace.client.post(`${INCIDENTS}/${incident.id}/restore`);
    await workspace.client.post(`${INCIDENTS}/${incident.id}/provisioning/retry`);
    expect((await workspace.provisioned(incident.id)).status).toBe('succeeded');
  });
});

describe('rejected requests', () => {
  test.each([
    [{ short_title: 'thirteen char' }, 'short_title'],
    [{ create_slack_channel: true, slack_channel_id: 'C1' }, 'create_slack_channel'],
    [{ invite_usergroups: ['oncall', ' '] }, 'invite_usergroups.1'],
    [{ invite_usergroups: [' @ '] }, 'invite_usergroups.0'],
    [{ invite_usergroups: Array.from({ length: 51 }, (_, index) => `g${index}`) }, 'invite_usergroups'],
  ])('%j', async (properties, field) => {
    const workspace = await chatWorkspace(chat);
    const answer = await workspace.client.post(INCIDENTS, { title: 'x', ...properties });
    expect(answer).toMatchObject(refusal(400, 'invalid_request', { field }));
  });
});

describe('a workspace that requires short titles', () => {
  test.each([
    [undefined, 400],
    ['', 400],
    ['!!!', 400],
    ['🚨', 400],
    ['障害', 201],
    ['DB', 201],
    ['  Zürich  ', 201],
  ])('returns for %j the status %i', async (short_title, status) => {
    const workspace = await chatWorkspace(chat, { requiresShortTitle: true });
    const answer = await workspace.client.post(INCIDENTS, {
      title: 'x',
      ...(short_title !== undefined && { short_title }),
    });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body).toMatchObject({ code: 'invalid_request', field: 'short_title' });
  });
});
