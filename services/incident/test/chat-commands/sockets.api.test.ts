import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { startCommandTest } from './commands.ts';

const { chat, slack, workspace, slash, ask } = await startCommandTest();
const { service } = chat;
const { sockets } = slack;

const holder = async () =>
  (await service.knex('chat_connections').first('socket_holder'))?.socket_holder as string | null;
/** How many sockets the process has in a state, as its metrics say. */
const socketsThatAre = async (state: 'open' | 'waiting') => {
  const text = await (await fetch(`${service.app.url}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith('tocsin_chat_sockets{') && each.includes(`"${state}"`));
  return Number(line?.split(' ').at(-1));
};
const isOpen = async () =>
  eventually(async () => sockets.open === 1 && (await holder()) !== null, {
    what: 'a socket that is held',
    within: 20_000,
  });

afterEach(async () => {
  slack.down = false;
  sockets.isSilent = false;
  await workspace.connect({ appToken: slack.appToken });
  await isOpen();
});

test('Slack replaces a socket, and commands go on', async () => {
  const { opened } = sockets;
  sockets.refresh();
  await eventually(() => sockets.opened === opened + 1 && sockets.open === 1);
  expect(await ask(slash('help'))).toContain('/tocsin declare');
  sockets.destroy();
  await eventually(() => sockets.opened === opened + 2 && sockets.open === 1);
  expect(await ask(slash('help'))).toContain('/tocsin declare');
  expect(await socketsThatAre('open')).toBe(1);
});

test('one process at a time holds the socket, and leaves it to another one when it stops', async () => {
  const other = await service.startProcess();
  const third = await service.startProcess();
  try {
    // Somebody else takes it: whoever held it closes its own.
    const { opened } = sockets;
    await service.knex('chat_connections').update({ socket_holder: null, socket_until: null });
    await eventually(async () => sockets.opened > opened && sockets.open === 1 && (await holder()) !== null);
    expect(await ask(slash('help'))).toContain('/tocsin declare');
  } finally {
    await other.stop();
    await third.stop();
  }
  await isOpen();
  expect(await ask(slash('help'))).toContain('/tocsin declare');
});

test('a workspace that is connected without the token of an app has no socket', async () => {
  await workspace.connect();
  await eventually(() => sockets.open === 0);
  await workspace.disconnect();
  await eventually(async () => (await socketsThatAre('waiting')) === 0);
});

test('a token that Slack refuses is tried less and less often, until it is replaced', async () => {
  await workspace.connect({ appToken: 'xapp-revoked' });
  const refusals = () => slack.calls.filter(({ token }) => token === 'xapp-revoked').length;
  await eventually(async () => refusals() >= 2 && (await socketsThatAre('waiting')) === 1);
  expect(sockets.open).toBe(0);
  await workspace.connect({ appToken: slack.appToken });
  await isOpen();
  expect(refusals()).toBeLessThan(5);
});

test('a Slack that is down, or silent, gets its socket later', async () => {
  slack.down = true;
  sockets.destroy();
  await eventually(() => sockets.open === 0);
  slack.down = false;
  await isOpen();
  expect(await ask(slash('help'))).toContain('/tocsin declare');
});
