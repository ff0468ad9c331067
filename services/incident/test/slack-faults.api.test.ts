import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { behave, type FakeSlack, startSlack } from '@tocsin/testing';
import type { Chat, ChatFault } from '../src/clients/chat.ts';
import { slackChat } from '../src/clients/slack.ts';
import { CALLS, failureOf } from './slack-calls.ts';

const FAULTS: Record<ChatFault, string[]> = {
  not_connected: [
    'invalid_auth',
    'not_authed',
    'token_revoked',
    'token_expired',
    'account_inactive',
    'missing_scope',
    'no_permission',
    'not_allowed_token_type',
    'org_login_required',
    'team_access_not_granted',
    'ekm_access_denied',
    'access_denied',
    'restricted_action',
    'user_is_restricted',
  ],
  channel_missing: [
    'channel_not_found',
    'is_archived',
    'not_in_channel',
    'not_authorized',
    'method_not_supported_for_channel_type',
  ],
  name_taken: ['name_taken'],
  invalid_name: [
    'invalid_name',
    'invalid_name_required',
    'invalid_name_punctuation',
    'invalid_name_maxlength',
    'invalid_name_specials',
  ],
  rate_limited: ['ratelimited', 'rate_limited'],
  unavailable: ['internal_error', 'fatal_error', 'service_unavailable', 'team_added_to_org', 'request_timeout'],
  refused: ['invalid_arguments', 'too_many_convos_for_team', 'method_deprecated', 'unknown_method', 'of_tomorrow'],
};

describe('faults of Slack', () => {
  let slack: FakeSlack;
  let chat: Chat;

  beforeEach(async () => {
    slack = await startSlack();
    chat = slackChat({ token: slack.token, apiUrl: slack.url, timeout: 5_000 });
  });
  afterEach(async () => slack.stop());

  test.each(Object.entries(FAULTS).flatMap(([fault, codes]) => codes.map((code) => [code, fault])))(
    '%s is %s',
    async (error, fault) => {
      slack.fail({ error });
      const failure = await failureOf(chat.createChannel('inc-1'));
      expect(failure).toMatchObject({ name: 'ChatError', fault });
      expect(failure.retryAfter).toBe(fault === 'rate_limited' ? 1 : undefined);
    },
  );

  test.each(CALLS)('%s fails with the port’s error, and tries once', async (_name, call) => {
    slack.fail({ error: 'token_revoked' });
    expect(await failureOf(call(chat))).toMatchObject({ name: 'ChatError', fault: 'not_connected' });
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
  ])('a limit with Retry-After %s is to be waited out for %d s, by the caller', async (retryAfter, seconds) => {
    slack.limit({ calls: 1, ...(retryAfter !== undefined && { retryAfter }) });
    expect(await failureOf(chat.check())).toMatchObject({ fault: 'rate_limited', retryAfter: seconds });
    expect(slack.calls).toHaveLength(1);
    await expect(chat.check()).resolves.toBeUndefined();
  });

  test('a limit may also come as a refusal', async () => {
    const body = JSON.stringify({ ok: false, error: 'ratelimited' });
    slack.fail({ behave: behave.answer(200, { 'Retry-After': '7' }, body) });
    expect(await failureOf(chat.check())).toMatchObject({ fault: 'rate_limited', retryAfter: 7 });
  });

  test('a limit of one method leaves the others alone', async () => {
    const { id } = await chat.createChannel('inc-1');
    slack.limit({ method: 'conversations.rename', calls: 1, retryAfter: 3 });
    await chat.setPurpose(id, 'x');
    expect(await failureOf(chat.renameChannel(id, 'inc-2'))).toMatchObject({ fault: 'rate_limited', retryAfter: 3 });
    expect(slack.channels[0]?.name).toBe('inc-1');
  });

  test.each<[number, ChatFault]>([
    [500, 'unavailable'],
    [502, 'unavailable'],
    [503, 'unavailable'],
    [302, 'refused'],
    [403, 'refused'],
    [404, 'refused'],
  ])('the status %d is %s', async (status, fault) => {
    slack.fail({ status });
    expect(await failureOf(chat.check())).toMatchObject({ fault });
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
    // Well-formed, and yet not what auth.test answers.
    '{"ok":true,"user_id":7}',
  ])('the answer %j is none', async (body) => {
    slack.fail({ behave: behave.answer(200, {}, body) });
    expect(await failureOf(chat.check())).toMatchObject({ name: 'ChatError', fault: 'unavailable' });
  });

  test('an answer of any length is not read to its end', async () => {
    slack.fail({ behave: behave.endlessBody() });
    // Longer than a test may take.
    const patient = slackChat({ token: slack.token, apiUrl: slack.url, timeout: 600_000 });
    expect(await failureOf(patient.check())).toMatchObject({ name: 'ChatError', fault: 'unavailable' });
  });

  test('while Slack is down nothing is made, and afterwards the same chat works', async () => {
    slack.down = true;
    expect(await failureOf(chat.createChannel('inc-1'))).toMatchObject({ fault: 'unavailable' });
    slack.down = false;
    await chat.createChannel('inc-1');
    expect(slack.channels).toHaveLength(1);
  });

  test('an answer that is lost leaves what was done', async () => {
    slack.after('conversations.create', () => {
      slack.down = true;
    });
    expect(await failureOf(chat.createChannel('inc-1'))).toMatchObject({ fault: 'unavailable' });
    slack.down = false;
    expect(await chat.findChannel('inc-1')).toMatchObject({ name: 'inc-1', purpose: '', isOurs: true });
  });

  test('where nobody listens is unavailable', async () => {
    await slack.stop();
    expect(await failureOf(chat.check())).toMatchObject({ fault: 'unavailable' });
  });

  test('no error shows the token', async () => {
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
