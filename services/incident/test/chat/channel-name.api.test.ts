import { afterEach, describe, expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { generateSecretKeys } from '@tocsin/runtime';
import { type ChatWorkspace, chatWorkspace, INCIDENTS, startChatTest } from './chat.ts';
import { configure } from '../configure.ts';

const chat = await startChatTest();
afterEach(() => {
  chat.slack.down = false;
  chat.slack.hang = false;
});

/** An incident with the channel `war-<workspace>`, and the requests for its name. */
async function linked(options: { creator?: string } = {}) {
  const workspace = await chatWorkspace(chat);
  const channel = chat.slack.addChannel({
    name: `war-${workspace.id}`,
    creator: options.creator ?? chat.slack.user,
    members: [chat.slack.user],
  });
  const incident = await workspace.declare({ slack_channel_id: channel.id, short_title: 'DB down' });
  return { workspace, channel, incident, template: `w${workspace.id}-1-db-down`, ...asking(workspace, incident.id) };
}

const asking = ({ client }: ChatWorkspace, id: number) => ({
  preview: async (body: unknown) => client.post(`${INCIDENTS}/${id}/slack/channel-name/preview`, body),
  rename: async (body: unknown) => client.patch(`${INCIDENTS}/${id}/slack/channel-name`, body),
  validate: async (body: unknown) => client.patch(`${INCIDENTS}/${id}/slack/channel-name?validate_only=true`, body),
  renameOld: async () => client.post(`${INCIDENTS}/${id}/rename-slack-channel`),
  archive: async () => client.post(`${INCIDENTS}/${id}/archive`),
});

const TEMPLATE = { mode: 'workspace_template' };

describe('a channel name', () => {
  test('can be previewed without a change and then set', async () => {
    const { channel, incident, workspace, template, preview, rename } = await linked();
    const before = channel.name;
    expect(await preview(TEMPLATE)).toMatchObject({
      status: 200,
      body: { channel_name: template, current_name: before, mode: 'workspace_template', available: true },
    });
    expect(channel.name).toBe(before);
    const changed = { channel_name: template, channel_id: channel.id, mode: 'workspace_template', changed: true };
    expect(await rename(TEMPLATE)).toMatchObject({ status: 200, body: changed });
    expect(channel.name).toBe(template);
    expect((await rename(TEMPLATE)).body).toEqual({ ...changed, changed: false });
    // The channel's name is not a property of the incident.
    expect((await workspace.get(incident.id)).body.incident.revision).toBe(1);
  });

  test('can be validated without a change', async () => {
    const { channel, template, rename, validate } = await linked();
    const before = channel.name;
    const taken = { mode: 'custom', name: `taken-${template}` };
    chat.slack.addChannel({ name: taken.name });
    const dry = await validate(TEMPLATE);
    expect(channel.name).toBe(before);
    expect(dry).toMatchObject({ status: 200, body: { channel_name: template, changed: true } });
    const [refused, refusal] = [await rename(taken), await validate(taken)];
    expect(refused.body.code).toBe('slack_channel_name_taken');
    expect({ ...refusal.body, request_id: '' }).toEqual({ ...refused.body, request_id: '' });
    expect((await rename(TEMPLATE)).body).toEqual(dry.body);
  });

  test('can be a custom name', async () => {
    const { channel, preview, rename } = await linked();
    const custom = { mode: 'custom', name: `own_name-${channel.id.toLowerCase()}` };
    expect((await preview(custom)).body).toMatchObject({ channel_name: custom.name, mode: 'custom', available: true });
    expect((await rename(custom)).body).toEqual({
      channel_name: custom.name,
      channel_id: channel.id,
      mode: 'custom',
      changed: true,
    });
    expect(channel.name).toBe(custom.name);
  });

  test.each([{ archived: false }, { archived: true }])(
    'of another channel, archived or not, is taken in both modes: %j',
    async ({ archived }) => {
      const { channel, template, preview, rename, renameOld } = await linked();
      const before = channel.name;
      chat.slack.addChannel({ name: template, archived });
      for (const body of [TEMPLATE, { mode: 'custom', name: template }]) {
        expect((await preview(body)).body).toMatchObject({ available: false, current_name: before });
        expect(await rename(body)).toMatchObject(refusal(409, 'slack_channel_name_taken'));
      }
      expect(await renameOld()).toMatchObject(refusal(409, 'slack_channel_name_taken'));
      expect(channel.name).toBe(before);
    },
  );

  test('has letters of any script, from a short title and from a request', async () => {
    const { workspace, channel, rename, preview } = await linked();
    const titled = await workspace.declare({ create_slack_channel: true, short_title: 'Сбой оплаты' });
    await workspace.provisioned(titled.id);
    const { slack_channel_id: channelId } = (await workspace.get(titled.id)).body.incident;
    expect(chat.slack.channels.find(({ id }) => id === channelId)?.name).toBe(`w${workspace.id}-2-сбой-оплаты`);
    // A decomposed letter is sent composed.
    const name = `障害-か\u3099-${workspace.id}`;
    expect((await preview({ mode: 'custom', name })).body.channel_name).toBe(name.normalize('NFC'));
    expect((await rename({ mode: 'custom', name })).body.channel_name).toBe(channel.name);
    expect(channel.name).toBe(`障害-が-${workspace.id}`);
  });

  test("has the date of the workspace's time zone", async () => {
    const { workspace, incident } = await linked();
    await workspace.connect({ channelTemplate: `w${workspace.id}-{date}` });
    const names: string[] = [];
    // 25 hours apart, so that the date is never the same.
    for (const [version, time_zone] of ['Pacific/Pago_Pago', 'Pacific/Kiritimati'].entries()) {
      await configure(chat.service.knex, workspace.id, { time_zone });
      const client = chat.service.as({ workspace: { id: workspace.id, version: version + 10 } });
      const { body } = await asking({ ...workspace, client }, incident.id).preview(TEMPLATE);
      // This locale writes ISO 8601.
      const date = new Intl.DateTimeFormat('sv', { timeZone: time_zone }).format(Date.parse(chat.clock.now()));
      expect(body.channel_name).toBe(`w${workspace.id}-${date}`);
      names.push(body.channel_name);
    }
    expect(new Set(names).size).toBe(2);
    // The channel of a new incident, which no request names.
    const { id } = await workspace.declare({ create_slack_channel: true });
    await workspace.provisioned(id);
    const { slack_channel_id: channelId } = (await workspace.get(id)).body.incident;
    expect(chat.slack.channels.find((each) => each.id === channelId)?.name).toBe(names[1]);
  });

  test('that the channel already has is available to it', async () => {
    const { channel, preview } = await linked();
    expect((await preview({ mode: 'custom', name: channel.name })).body).toMatchObject({ available: true });
  });
});

test('the deprecated route applies the template and names its successor', async () => {
  const { channel, incident, template, renameOld } = await linked();
  const { status, body, headers } = await renameOld();
  expect([status, body]).toEqual([200, { channel_name: template }]);
  expect(channel.name).toBe(template);
  expect(headers.get('Deprecation')).toMatch(/^@\d+$/);
  expect(Date.parse(headers.get('Sunset') ?? '')).toBeGreaterThan(Date.parse('2027-01-01'));
  expect(headers.get('Link')).toBe(`<${INCIDENTS}/${incident.id}/slack/channel-name>; rel="successor-version"`);
});

describe('a request', () => {
  test.each([
    [{ mode: 'custom' }, 'name'],
    [{ mode: 'custom', name: 'Upper' }, 'name'],
    [{ mode: 'custom', name: 'two words' }, 'name'],
    [{ mode: 'custom', name: 'dot.ted' }, 'name'],
    [{ mode: 'custom', name: 'a'.repeat(81) }, 'name'],
    [{ mode: 'workspace_template', name: 'x' }, 'name'],
  ])('%j fails with %s', async (body, field) => {
    const { preview, rename } = await linked();
    for (const answer of [await preview(body), await rename(body)]) {
      expect(answer).toMatchObject(refusal(400, 'invalid_slack_channel_name_request', { field }));
    }
  });

  test('for an archived incident fails, except a preview', async () => {
    const { archive, preview, rename, renameOld } = await linked();
    await archive();
    expect((await preview(TEMPLATE)).status).toBe(200);
    for (const answer of [await rename(TEMPLATE), await renameOld()]) {
      expect(answer).toMatchObject(refusal(409, 'invalid_resource_state'));
    }
  });
});

describe('without', () => {
  test.each([
    ['a connection', 'slack_not_configured'],
    ['a connection or a channel', 'slack_not_configured'],
    ['a token that holds', 'slack_not_configured'],
    ['a token that holds or a channel', 'slack_not_configured'],
    ['the key that sealed the token', 'slack_not_configured'],
    ['a channel', 'incident_slack_channel_missing'],
    ['the linked channel being there', 'slack_channel_not_found'],
  ])('%s every request fails with %s', async (missing, code) => {
    const { workspace, channel, incident } = await linked();
    if (missing.startsWith('a connection')) await workspace.disconnect();
    if (missing.startsWith('the key')) await workspace.connect({ secretKeys: generateSecretKeys() });
    if (missing.startsWith('a token')) {
      const botToken = chat.slack.addToken();
      chat.slack.revoke(botToken);
      await workspace.connect({ botToken });
    }
    if (missing === 'the linked channel being there') chat.slack.removeChannel(channel.id);
    const { id } = missing.endsWith('a channel') ? await workspace.declare() : incident;
    const { preview, rename, renameOld } = asking(workspace, id);
    for (const answer of [await preview(TEMPLATE), await rename(TEMPLATE), await renameOld()]) {
      expect(answer).toMatchObject({ status: 409, body: { code } });
    }
  });

  test('permission to rename the channel, it counts as not found', async () => {
    const { rename } = await linked({ creator: 'U9999999' });
    expect(await rename(TEMPLATE)).toMatchObject(refusal(409, 'slack_channel_not_found'));
  });
});

describe('while the chat', () => {
  test.each(['is down', 'hangs', 'fails', 'limits us'])(
    '%s every request returns 503 with Retry-After',
    async (trouble) => {
      const { channel, preview, rename, renameOld } = await linked();
      const before = channel.name;
      if (trouble === 'is down') chat.slack.down = true;
      if (trouble === 'hangs') chat.slack.hang = true;
      if (trouble === 'fails') chat.slack.fail({ status: 500, calls: 3 });
      if (trouble === 'limits us') chat.slack.limit({ calls: 3, retryAfter: 17 });
      const answers = await Promise.all([preview(TEMPLATE), rename(TEMPLATE), renameOld()]);
      for (const answer of answers) {
        expect(answer).toMatchObject(refusal(503, 'service_unavailable'));
        expect(answer.headers.get('Retry-After')).toBe(trouble === 'limits us' ? '17' : '1');
      }
      expect(channel.name).toBe(before);
    },
  );
});
