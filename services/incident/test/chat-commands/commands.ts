import { eventually, type FakeSlack, type Receiver, behave, type SlackEnvelope, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { type ChatTest, type ChatWorkspace, chatWorkspace, INCIDENTS, startChatTest } from '../chat/chat.ts';
import { aUser } from '../snapshots.ts';

export const ANA = 'U0000042';
export const BEN = 'U0000043';

/** A workspace whose Slack sends commands, and what takes the answers to them. */
export interface CommandTest {
  chat: ChatTest;
  slack: FakeSlack;
  answers: Receiver;
  workspace: ChatWorkspace;
  /** What Slack sends for a command; `channel` is a direct message by default. */
  slash(text: string, options?: { user?: string; channel?: string; trigger?: string }): SlackEnvelope;
  /** What Slack sends for the shortcut of a message. */
  shortcut(message: { ts: string; text: string }, options: { user?: string; channel: string }): SlackEnvelope;
  /** Sends a request and returns the text of its answer. */
  ask(envelope: SlackEnvelope): Promise<string>;
  /** An incident of the workspace as the API has it. */
  incident(id: number): Promise<Record<string, unknown>>;
}

/** Ana and Ben are responders; Cleo has no seat. */
export async function startCommandTest(): Promise<CommandTest> {
  const answers = stopAfterAll(await startReceiver());
  answers.respond = () => behave.answer(200, {}, 'ok');
  const chat = await startChatTest({
    settings: { WEBHOOK_TEST_RECEIVERS: answers.hostAndPort('127.0.0.1') },
    overrides: { ca: answers.ca, socketInterval: 50 },
  });
  const { slack, service } = chat;
  const workspace = await chatWorkspace(chat, { connected: false });
  await workspace.connect({ appToken: slack.appToken });
  await service.owners.change(workspace.id, (data) => {
    data.users = [aUser(42, 'Ana'), aUser(43, 'Ben'), { ...aUser(44, 'Cleo'), seat: 'none' }];
  });
  slack.people.push(
    { id: ANA, name: 'Ana', email: 'Ana@acme.example' },
    { id: BEN, name: 'Ben', email: 'ben@acme.example' },
    { id: 'U0000044', name: 'Cleo', email: 'cleo@acme.example' },
    { id: 'U0000045', name: 'Dora', email: 'dora@elsewhere.example' },
    { id: 'U0000046', name: 'Eve', email: 'ana@acme.example', team: 'T0000666' },
    { id: 'U0000047', name: 'Finn', email: 'ana@acme.example', isEmailConfirmed: false },
  );
  await eventually(() => slack.sockets.open === 1, { what: 'a socket' });
  let lastId = 0;
  const common = (user: string) => {
    const trigger = `13345224609.738474920.${(lastId += 1)}`;
    const path = `/commands/T0000001/${lastId}/token`;
    return { user, trigger, response_url: answers.url(path, '127.0.0.1') };
  };
  return {
    ...{ chat, slack, answers, workspace },
    slash: (text, { user = ANA, channel = 'D0000001', ...options } = {}) => {
      const { trigger, response_url } = common(user);
      return {
        type: 'slash_commands',
        accepts_response_payload: true,
        payload: {
          ...{ command: '/tocsin', text, response_url, trigger_id: options.trigger ?? trigger, user_id: user },
          ...{ user_name: 'someone', team_id: 'T0000001', channel_id: channel, api_app_id: 'A0000001' },
        },
      };
    },
    shortcut: ({ ts, text }, { user = ANA, channel }) => {
      const { trigger, response_url } = common(user);
      return {
        type: 'interactive',
        payload: {
          ...{ type: 'message_action', callback_id: 'add_to_timeline', trigger_id: trigger, response_url },
          ...{ user: { id: user, name: 'someone' }, channel: { id: channel, name: 'c' }, message_ts: ts },
          message: { type: 'message', user: BEN, ts, text },
        },
      };
    },
    ask: async (envelope) => {
      const { response_url } = envelope.payload as { response_url: string };
      await slack.sockets.send(envelope);
      const { pathname } = new URL(response_url);
      const request = await eventually(() => answers.requests.find(({ path }) => path === pathname));
      const body = JSON.parse(request.body);
      if (body.response_type !== 'ephemeral') throw new Error('everybody sees the answer');
      return body.text;
    },
    incident: async (id) => (await workspace.client.get(`${INCIDENTS}/${id}`)).body.incident,
  };
}
