import { execFile } from 'node:child_process';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { behave, eventually, type FakeSlack, startSlack } from '@tocsin/testing';
import type { Chat } from '../../src/chat/clients/chat.ts';
import { slackChat } from '../../src/chat/clients/slack.ts';
import { CALLS, failureOf } from './slack-calls.ts';

const run = promisify(execFile);
const PROCESS = path.join(import.meta.dirname, 'slack-process.ts');

describe('a hanging Slack', () => {
  let slack: FakeSlack;
  let chat: Chat;
  const chatFor = (timeout: number) => slackChat({ token: slack.token, apiUrl: slack.url, timeout });
  const allHungUp = async () =>
    eventually(() => slack.connections === 0, { what: 'the end of every connection to Slack' });

  beforeEach(async () => {
    slack = await startSlack();
    chat = chatFor(200);
  });
  afterEach(async () => slack.stop());

  test.each(CALLS)('%s times out and closes its connection', async (_name, call) => {
    slack.hang = true;
    // Long enough for the request to arrive, also on a busy machine.
    expect(await failureOf(call(chatFor(1_000)))).toMatchObject({ name: 'ChatError', reason: 'unavailable' });
    expect(slack.calls).toHaveLength(1);
    await allHungUp();
  });

  test('many concurrent calls all time out', async () => {
    slack.hang = true;
    const failures = await Promise.all(CALLS.flatMap(([, call]) => [failureOf(call(chat)), failureOf(call(chat))]));
    expect(new Set(failures.map(({ reason }) => reason))).toEqual(new Set(['unavailable']));
    await allHungUp();
  });

  test.each(
    Object.entries({
      'headers without end': behave.slowHeaders(),
      'a slow body': behave.slowBody(),
      'a body cut short': behave.truncated(),
      'another protocol': behave.switching(),
      'interim answers without end': behave.interimFlood(),
      'too many headers': behave.hugeHeaders(),
      'no HTTP': behave.garbage(),
      'the end of the connection': behave.close(),
      'a compressed body': behave.compressed(),
    }),
  )('a call that gets %s times out', async (_what, behaviour) => {
    slack.fail({ behave: behaviour });
    expect(await failureOf(chat.check())).toMatchObject({ name: 'ChatError', reason: 'unavailable' });
    await allHungUp();
  });

  test('the timeout covers all pages together', async () => {
    const page = { ok: true, channels: [], response_metadata: { next_cursor: 'on-and-on' } };
    slack.fail({ calls: Infinity, behave: behave.answer(200, {}, JSON.stringify(page)) });
    expect(await failureOf(chatFor(1_000).findChannel('inc-1'))).toMatchObject({ reason: 'unavailable' });
    expect(slack.calls.length).toBeGreaterThan(1);
    await allHungUp();
  });

  test('one request has a shorter timeout than the whole call', async () => {
    for (const name of ['inc-1', 'inc-2', 'inc-3', 'inc-4']) slack.addChannel({ name });
    slack.pageSize = 1;
    const start = performance.now();
    await chatFor(600_000).check();
    const callTimeout = Math.ceil(1_000 + 10 * (performance.now() - start));
    const slowChat = slackChat({ token: slack.token, apiUrl: slack.url, timeout: 600_000, callTimeout });
    // Together longer than the timeout of one request, each of them within it.
    for (const _ of [1, 2, 3, 4]) slack.before('conversations.list', async () => delay(0.3 * callTimeout));
    await expect(slowChat.findChannel('inc-4')).resolves.toMatchObject({ name: 'inc-4' });
    slack.hang = true;
    expect(await failureOf(slowChat.check())).toMatchObject({ reason: 'unavailable' });
    await allHungUp();
  });

  test('a call that hangs within the response times out', async () => {
    const channel = slack.addChannel({ name: 'inc-1', creator: slack.user });
    slack.addUsergroup({ handle: 'oncall', users: ['U11'] });
    slack.after('conversations.invite', async () => new Promise(() => undefined));
    expect(await failureOf(chatFor(1_000).inviteUsergroups(channel.id, ['oncall']))).toMatchObject({
      reason: 'unavailable',
    });
    // The call took effect, although it failed.
    expect(channel.members).toContain('U11');
    await allHungUp();
    await expect(chatFor(5_000).inviteUsergroups(channel.id, ['oncall'])).resolves.toEqual([]);
  });

  test('no connection stays open after successful calls', async () => {
    await chatFor(5_000).findChannel('inc-1');
    await allHungUp();
  });

  test('a process exits after its calls without printing anything about them', async () => {
    const warning = { ok: false, error: 'fatal_error', response_metadata: { messages: ['[ERROR] x', '[WARN] y'] } };
    slack.limit({ calls: 1, retryAfter: 600 });
    slack.fail({ behave: behave.answer(200, {}, JSON.stringify(warning)) });
    slack.fail({ behave: behave.slowBody() });
    slack.fail({ behave: behave.switching() });
    slack.fail({ behave: behave.close() });
    slack.fail({ behave: behave.slowHeaders() });
    const { stdout, stderr } = await run(process.execPath, [
      PROCESS,
      slack.url,
      slack.token,
      ...['check', 'createChannel', 'getChannel', 'renameChannel', 'findChannel', 'setPurpose'],
    ]);
    const unavailable = Array.from({ length: 5 }, () => 'unavailable');
    expect(JSON.parse(stdout)).toEqual({ reasons: ['rate_limited', ...unavailable], open: [] });
    expect(stderr).toBe('');
    expect(slack.calls).toHaveLength(6);
  });
});
