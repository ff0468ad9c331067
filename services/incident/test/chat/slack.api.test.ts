import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { egressOf, receiverSettings } from '@tocsin/safe-http';
import { readConfig } from '@tocsin/runtime';
import { behave, eventually, type FakeSlack, startConnectProxy, startReceiver, startSlack } from '@tocsin/testing';
import type { Chat } from '../../src/chat/clients/chat.ts';
import { slackChat } from '../../src/chat/clients/slack.ts';

const TIMEOUT = 5_000;

describe('Slack as a chat', () => {
  let slack: FakeSlack;
  let chat: Chat;
  const called = () => slack.calls.map(({ method }) => method);

  beforeEach(async () => {
    slack = await startSlack();
    chat = slackChat({ token: slack.token, apiUrl: slack.url, timeout: TIMEOUT });
  });
  afterEach(async () => slack.stop());

  test('accepts a connection until its token becomes invalid', async () => {
    await expect(chat.check()).resolves.toBeUndefined();
    slack.revoke(slack.token);
    await expect(chat.check()).rejects.toMatchObject({ reason: 'not_connected' });
  });

  test('sends only the token of the connection', async () => {
    const other = slackChat({ token: slack.addToken(), apiUrl: slack.url, timeout: TIMEOUT });
    await Promise.all([chat.check(), other.check()]);
    expect(new Set(slack.calls.map(({ token }) => token)).size).toBe(2);
    expect(slack.calls.every(({ args }) => Object.keys(args).length === 0)).toBe(true);
  });

  test.each(['', 'xoxb-1\nx: y', 'xoxb 1', 'xöxb'])('sends no request with the token %j', async (token) => {
    const unusable = slackChat({ token, apiUrl: slack.url, timeout: TIMEOUT });
    await expect(unusable.check()).rejects.toMatchObject({ name: 'ChatError', reason: 'not_connected' });
    expect(slack.calls).toEqual([]);
  });

  test('accepts a base URL without a trailing slash', async () => {
    const apiUrl = slack.url.replace(/\/$/, '');
    await slackChat({ token: slack.token, apiUrl, timeout: TIMEOUT }).check();
    expect(called()).toEqual(['auth.test']);
  });

  describe('channels', () => {
    test('creates one that is ours and has no purpose', async () => {
      const made = await chat.createChannel('inc-1-checkout', { isPrivate: false });
      const [channel] = slack.channels;
      expect(slack.channels).toHaveLength(1);
      expect(made).toEqual({
        id: channel?.id,
        name: 'inc-1-checkout',
        purpose: '',
        isOurs: true,
        isPrivate: false,
        createdAt: channel!.created * 1_000,
      });
      // A channel that we create is ours without another request.
      expect(called()).toEqual(['conversations.create']);
    });

    test('returns the name that Slack chose for the requested one', async () => {
      slack.before('conversations.create', ({ args }) => {
        args['name'] = args['name']!.slice(0, 8);
      });
      expect(await chat.createChannel('inc-1-checkout', { isPrivate: false })).toMatchObject({ name: 'inc-1-ch' });
    });

    test.each([
      'INC-1 of acme, opened by Tocsin [7f2c]',
      'a < b && b > c, "quoted" &amp; 100 %',
      'see https://status.acme.test/inc?a=1&b=2 (now)',
      'ärger 🔥\nsecond line',
      '',
    ])('returns the purpose %j unchanged', async (purpose) => {
      const { id } = await chat.createChannel('inc-1', { isPrivate: false });
      await chat.setPurpose(id, purpose);
      await chat.setPurpose(id, purpose);
      expect(slack.channels[0]?.purpose).toBe(purpose);
      expect(await chat.getChannel(id)).toMatchObject({ id, purpose });
    });

    test('knows whether a channel is ours and requests the own user once', async () => {
      const ours = slack.addChannel({ name: 'ours', creator: slack.user });
      const theirs = slack.addChannel({ name: 'theirs', purpose: 'talk' });
      expect(await chat.getChannel(ours.id)).toMatchObject({ name: 'ours', isOurs: true });
      expect(await chat.getChannel(theirs.id)).toMatchObject({ name: 'theirs', purpose: 'talk', isOurs: false });
      expect(await chat.findChannel('theirs')).toMatchObject({ id: theirs.id, isOurs: false });
      expect(called().filter((method) => method === 'auth.test')).toHaveLength(1);
    });

    test('does not find an archived one', async () => {
      const { id } = slack.addChannel({ name: 'inc-1', creator: slack.user, archived: true });
      expect(await chat.findChannel('inc-1')).toMatchObject({ id });
      await expect(chat.getChannel(id)).rejects.toMatchObject({ reason: 'channel_missing' });
      await expect(chat.renameChannel(id, 'inc-2')).rejects.toMatchObject({ reason: 'channel_missing' });
      await expect(chat.setPurpose(id, 'x')).rejects.toMatchObject({ reason: 'channel_missing' });
    });
  });

  describe('finding a channel', () => {
    const pages = () => slack.calls.filter(({ method }) => method === 'conversations.list');

    beforeEach(() => {
      for (let number = 1; number <= 25; number += 1) {
        slack.addChannel({ name: `inc-${number}`, archived: number % 2 === 0 });
      }
      slack.pageSize = 2;
    });

    test('reads pages until it finds the channel', async () => {
      expect(await chat.findChannel('inc-6')).toMatchObject({ id: slack.channels[5]?.id, name: 'inc-6' });
      expect(pages()).toHaveLength(3);
      expect(pages()[0]?.args).toEqual({
        types: 'public_channel,private_channel',
        exclude_archived: 'false',
        limit: '1000',
      });
    });

    test.each(['inc', 'INC-1', 'inc-1 ', 'inc-26', ''])('does not match another channel for %j', async (name) => {
      expect(await chat.findChannel(name)).toBeUndefined();
      expect(pages()).toHaveLength(13);
    });

    test('finds nothing in an empty workspace', async () => {
      slack.channels.length = 0;
      expect(await chat.findChannel('inc-1')).toBeUndefined();
    });
  });
});

test('Slack is reached through the proxy of the operator, over one connection for one call', async () => {
  const proxy = await startConnectProxy();
  const server = await startReceiver({ names: ['slack.example'] });
  const trusted = getCACertificates();
  setDefaultCACertificates([server.ca]);
  try {
    proxy.targets.set('slack.example:443', server.port);
    const page = { ok: true, user_id: 'U1', channels: [] };
    server.respond = () => behave.answer(200, { 'Content-Type': 'application/json' }, JSON.stringify(page));
    const { proxy: settings } = egressOf({
      NODE_ENV: 'test',
      ...readConfig(receiverSettings, { HTTPS_PROXY: proxy.url }),
    });
    const chatAt = (name: string) =>
      slackChat({ token: 'xoxb-1', apiUrl: `https://${name}/api/`, timeout: TIMEOUT, proxy: settings });
    await expect(chatAt('slack.example').check()).resolves.toBeUndefined();
    server.respond = ({ body }) => {
      const cursor = body.includes('cursor') ? '' : 'more';
      return behave.answer(200, {}, JSON.stringify({ ...page, response_metadata: { next_cursor: cursor } }));
    };
    await expect(chatAt('slack.example').findChannel('inc-1')).resolves.toBeUndefined();
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/api/auth.test',
      '/api/conversations.list',
      '/api/conversations.list',
    ]);
    expect(proxy.requests.map(({ target }) => target)).toEqual(['slack.example:443', 'slack.example:443']);
    await expect(chatAt('unknown.example').check()).rejects.toMatchObject({ reason: 'unavailable' });
    await eventually(() => server.connections === 0, { what: 'all connections to close' });
  } finally {
    setDefaultCACertificates(trusted);
    await server.stop();
    await proxy.stop();
  }
});
