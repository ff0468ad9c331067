import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { behave, type FakeSlack, type SlackChannel, startSlack } from '@tocsin/testing';
import type { Chat } from '../../src/chat/clients/chat.ts';
import { slackChat } from '../../src/chat/clients/slack.ts';

const people = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `U1${from + index}`);

describe('inviting user groups', () => {
  let slack: FakeSlack;
  let chat: Chat;
  let channel: SlackChannel;
  const invited = () =>
    slack.calls.filter(({ method }) => method === 'conversations.invite').map(({ args }) => args['users']!.split(','));
  const invite = async (...handles: string[]) => chat.inviteUsergroups(channel.id, handles);

  beforeEach(async () => {
    slack = await startSlack();
    chat = slackChat({ token: slack.token, apiUrl: slack.url, timeout: 5_000 });
    channel = slack.addChannel({ name: 'inc-1', creator: slack.user });
  });
  afterEach(async () => slack.stop());

  test('invites each member once, except the own user', async () => {
    slack.addUsergroup({ handle: 'oncall', users: ['U11', 'U12', slack.user] });
    slack.addUsergroup({ handle: 'Payments-Team', users: ['U12', 'U13'] });
    slack.addUsergroup({ handle: 'others', users: ['U14'] });
    expect(await invite('@oncall', 'payments-team', 'ONCALL')).toEqual([]);
    expect(channel.members).toEqual([slack.user, 'U11', 'U12', 'U13']);
    expect(invited()).toEqual([['U11', 'U12', 'U13']]);
    expect(slack.calls.filter(({ method }) => method === 'usergroups.list')).toHaveLength(1);
    expect(slack.calls.filter(({ method }) => method === 'usergroups.users.list')).toHaveLength(2);
  });

  test('returns the missing groups and invites the others', async () => {
    slack.addUsergroup({ handle: 'oncall', users: ['U11'] });
    expect(await invite('@nobody', 'oncall', 'oncall2', '@Nobody', '')).toEqual(['@Nobody', 'oncall2', '']);
    expect(channel.members).toEqual([slack.user, 'U11']);
  });

  test('invites in batches', async () => {
    slack.addUsergroup({ handle: 'all', users: people(1, 250) });
    await invite('all');
    expect(invited().map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(channel.members).toEqual([slack.user, ...people(1, 250)]);
  });

  test('sends no request without handles or members', async () => {
    expect(await invite()).toEqual([]);
    expect(slack.calls).toEqual([]);
    slack.addUsergroup({ handle: 'empty', users: [] });
    slack.addUsergroup({ handle: 'bots', users: [slack.user] });
    expect(await invite('empty', 'bots')).toEqual([]);
    expect(await invite('nobody')).toEqual(['nobody']);
    expect(invited()).toEqual([]);
  });

  test('invites each user alone if an error names nobody', async () => {
    slack.addUsergroup({ handle: 'oncall', users: ['U11', 'U12', 'U13'] });
    channel.members.push('U12');
    slack.fail({ method: 'conversations.invite', error: 'already_in_channel' });
    await invite('oncall');
    expect(new Set(channel.members)).toEqual(new Set([slack.user, 'U11', 'U12', 'U13']));
    expect(invited()).toEqual([['U11', 'U12', 'U13'], ['U11'], ['U12'], ['U13']]);
  });

  test('can be repeated', async () => {
    const group = slack.addUsergroup({ handle: 'oncall', users: ['U11', 'U12'] });
    await invite('oncall');
    await invite('oncall');
    group.users.push('U13');
    await invite('oncall');
    expect(channel.members).toEqual([slack.user, 'U11', 'U12', 'U13']);
  });

  test.each([
    'user_not_found',
    'cant_invite',
    'user_is_restricted',
    'ura_max_channels',
    'org_user_not_in_team',
    'no_permission',
    'of_tomorrow',
  ])('a user with %s does not prevent the invitation of the others', async (error) => {
    slack.uninvitable.set('U1102', error);
    slack.uninvitable.set('U1250', error);
    slack.addUsergroup({ handle: 'all', users: people(101, 250) });
    expect(await invite('all')).toEqual([]);
    const everybodyElse = people(101, 250).filter((user) => !slack.uninvitable.has(user));
    expect(channel.members).toEqual([slack.user, ...everybodyElse]);
  });

  test('invites the users whom an error did not name', async () => {
    slack.addUsergroup({ handle: 'oncall', users: ['U11', 'U12', 'U13'] });
    const errors = [{ user: 'U12', ok: false, error: 'cant_invite' }];
    const body = JSON.stringify({ ok: false, error: 'cant_invite', errors });
    slack.fail({ method: 'conversations.invite', behave: behave.answer(200, {}, body) });
    await invite('oncall');
    expect(invited()).toEqual([
      ['U11', 'U12', 'U13'],
      ['U11', 'U13'],
    ]);
    expect(channel.members).toEqual([slack.user, 'U11', 'U13']);
  });

  test.each(['already_in_channel', 'cant_invite_self', 'cant_invite'])('%s alone is not a failure', async (error) => {
    slack.addUsergroup({ handle: 'oncall', users: ['U11'] });
    slack.fail({ method: 'conversations.invite', error });
    expect(await invite('oncall')).toEqual([]);
  });

  test('a deleted, archived or inaccessible channel is missing', async () => {
    slack.addUsergroup({ handle: 'oncall', users: ['U11'] });
    channel.members = ['U19'];
    await expect(invite('oncall')).rejects.toMatchObject({ reason: 'channel_missing' });
    channel.isArchived = true;
    await expect(invite('oncall')).rejects.toMatchObject({ reason: 'channel_missing' });
    slack.removeChannel(channel.id);
    await expect(invite('oncall')).rejects.toMatchObject({ reason: 'channel_missing' });
  });

  test('an error of the channel is reported even if it names users', async () => {
    slack.addUsergroup({ handle: 'oncall', users: ['U11'] });
    const errors = [{ user: 'U11', ok: false, error: 'not_in_channel' }];
    const body = JSON.stringify({ ok: false, error: 'not_in_channel', errors });
    slack.fail({ method: 'conversations.invite', behave: behave.answer(200, {}, body) });
    await expect(invite('oncall')).rejects.toMatchObject({ reason: 'channel_missing' });
  });

  test.each([
    ['no_permission', 'not_connected'],
    ['missing_scope', 'not_connected'],
    ['invalid_arguments', 'refused'],
  ])('the error code %s of the call is %s', async (error, reason) => {
    slack.addUsergroup({ handle: 'oncall', users: ['U11'] });
    slack.fail({ method: 'conversations.invite', error });
    await expect(invite('oncall')).rejects.toMatchObject({ reason });
  });

  test('continues after a rate limit', async () => {
    slack.addUsergroup({ handle: 'all', users: people(1, 150) });
    slack.before('conversations.invite', () => slack.limit({ calls: 1, retryAfter: 20 }));
    await expect(invite('all')).rejects.toMatchObject({ reason: 'rate_limited', retryAfter: 20 });
    expect(channel.members).toHaveLength(101);
    await invite('all');
    expect(channel.members).toEqual([slack.user, ...people(1, 150)]);
  });
});
