import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { behave, type FakeSlack, startSlack } from '@tocsin/testing';
import type { Chat, ChatFailureReason } from '../../src/chat/clients/chat.ts';
import { slackChat } from '../../src/chat/clients/slack.ts';
import { CALLS, failureOf } from './slack-calls.ts';

const CODES_BY_REASON: Record<ChatFailureReason, string> = {
  not_connected:
    'invalid_auth not_authed token_revoked token_expired account_inactive missing_scope no_permission not_allowed_token_type org_login_required team_access_not_granted ekm_access_denied access_denied restricted_action user_is_restricted',
  channel_missing: 'channel_not_found is_archived not_in_channel not_authorized method_not_supported_for_channel_type',
  name_taken: 'name_taken',
  invalid_name:
    'invalid_name invalid_name_required invalid_name_punctuation invalid_name_maxlength invalid_name_specials',
  rate_limited: 'ratelimited rate_limited',
  unavailable: 'internal_error fatal_error service_unavailable team_added_to_org request_timeout',
  refused: 'invalid_arguments too_many_convos_for_team method_deprecated unknown_method of_tomorrow',
};

describe('errors of Slack', () => {
  let slack: FakeSlack;
  let chat: Chat;

  beforeEach(async () => {
    slack = await startSlack();
    chat = slackChat({ token: slack.token, apiUrl: slack.url, timeout: 5_000 });
  });
  afterEach(async () => slack.stop());

  test.each(
    Object.entries(CODES_BY_REASON).flatMap(([reason, codes]) => codes.split(' ').map((code) => [code, reason])),
  )('%s is %s', async (error, reason) => {
    slack.fail({ error });
    const failure = await failureOf(chat.createChannel('inc-1', { isPrivate: false }));
    expect(failure).toMatchObject({ name: 'ChatError', reason });
    expect(failure.retryAfter).toBe(reason === 'rate_limited' ? 1 : undefined);
  });

  test.each(CALLS)('%s fails with a ChatError after one attempt', async (_name, call) => {
    slack.fail({ error: 'token_revoked' });
    expect(await failureOf(call(chat))).toMatchObject({ name: 'ChatError', reason: 'not_connected' });
    expect(slack.calls).toHaveLength(1);
  });

  test.each([
    ['30', 30],
    ['1', 1],
    [undefined, 1],
    ['0', 1],
    ['-5', 1],
    ['1.5', 1],
    ['soon', 1],
    ['999999999', 1],
    ['Fri, 20 Nov 2026 09:30:00 GMT', 1],
  ])('a rate limit with Retry-After %s tells the caller to wait %d s', async (retryAfter, seconds) => {
    slack.limit({ calls: 1, ...(retryAfter !== undefined && { retryAfter }) });
    expect(await failureOf(chat.check())).toMatchObject({ reason: 'rate_limited', retryAfter: seconds });
    expect(slack.calls).toHaveLength(1);
    await expect(chat.check()).resolves.toBeUndefined();
  });

  test('a rate limit may also come as an error code', async () => {
    const body = JSON.stringify({ ok: false, error: 'ratelimited' });
    slack.fail({ behave: behave.answer(200, { 'Retry-After': '7' }, body) });
    expect(await failureOf(chat.check())).toMatchObject({ reason: 'rate_limited', retryAfter: 7 });
  });

  test('a rate limit of one method does not affect the others', async () => {
    const { id } = await chat.createChannel('inc-1', { isPrivate: false });
    slack.limit({ method: 'conversations.rename', calls: 1, retryAfter: 3 });
    await chat.setPurpose(id, 'x');
    expect(await failureOf(chat.renameChannel(id, 'inc-2'))).toMatchObject({ reason: 'rate_limited', retryAfter: 3 });
    expect(slack.channels[0]?.name).toBe('inc-1');
  });

  test.each<[number, ChatFailureReason]>([
    [500, 'unavailable'],
    [502, 'unavailable'],
    [503, 'unavailable'],
    [302, 'refused'],
    [403, 'refused'],
    [404, 'refused'],
  ])('the status %d is %s', async (status, reason) => {
    slack.fail({ status });
    expect(await failureOf(chat.check())).toMatchObject({ reason });
    expect(slack.calls).toHaveLength(1);
  });

  test.each([
    '',
    'maintenance',
    '<html></html>',
    'null',
    '[]',
    '{}',
    '"ok"',
    '{"ok":true',
    '{"ok":1}',
    '{"ok":false}',
    // Well-formed but not a response of auth.test.
    '{"ok":true,"user_id":7}',
  ])('the response %j is invalid', async (body) => {
    slack.fail({ behave: behave.answer(200, {}, body) });
    expect(await failureOf(chat.check())).toMatchObject({ name: 'ChatError', reason: 'unavailable' });
  });

  test('an endless response is not read to its end', async () => {
    slack.fail({ behave: behave.endlessBody() });
    // Longer than the test's timeout.
    const slowChat = slackChat({ token: slack.token, apiUrl: slack.url, timeout: 600_000 });
    expect(await failureOf(slowChat.check())).toMatchObject({ name: 'ChatError', reason: 'unavailable' });
  });

  test('while Slack is down nothing is created, and afterwards the same chat works', async () => {
    slack.down = true;
    expect(await failureOf(chat.createChannel('inc-1', { isPrivate: false }))).toMatchObject({ reason: 'unavailable' });
    slack.down = false;
    await chat.createChannel('inc-1', { isPrivate: false });
    expect(slack.channels).toHaveLength(1);
  });

  test('a lost response does not undo the call', async () => {
    slack.after('conversations.create', () => {
      slack.down = true;
    });
    expect(await failureOf(chat.createChannel('inc-1', { isPrivate: false }))).toMatchObject({ reason: 'unavailable' });
    slack.down = false;
    expect(await chat.findChannel('inc-1')).toMatchObject({ name: 'inc-1', purpose: '', isOurs: true });
  });

  test('a closed port is unavailable', async () => {
    await slack.stop();
    expect(await failureOf(chat.check())).toMatchObject({ reason: 'unavailable' });
  });

  test('no error contains the token', async () => {
    slack.fail({ error: 'invalid_auth' });
    slack.limit({ calls: 1 });
    slack.fail({ status: 500 });
    slack.fail({ behave: behave.answer(200, {}, 'x') });
    slack.fail({ behave: behave.close() });
    const failures = [];
    for (let times = 1; times <= 5; times += 1) failures.push(await failureOf(chat.check()));
    expect(slack.calls).toHaveLength(5);
    expect(inspect(failures, { depth: Infinity, showHidden: true })).not.toContain(slack.token);
  });
});
