import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { behave, startConnectProxy, startReceiver } from '@tocsin/testing';
import { running, temporaryFolder } from '../../verification/systems/running.ts';
import { runTocsin, type TocsinSettings } from './tocsin-command.ts';

const proxy = running(async () => startConnectProxy());
const server = running(async () =>
  startReceiver({ names: ['api.source.example', 'acme.tocsin.example', '127.0.0.1'] }),
);
const folder = temporaryFolder();
let settings: TocsinSettings;
beforeAll(async () => {
  const file = path.join(folder.path, 'ca.pem');
  await writeFile(file, server.ca);
  for (const host of ['api.source.example', 'acme.tocsin.example']) proxy.targets.set(`${host}:443`, server.port);
  settings = {
    ...{ NODE_EXTRA_CA_CERTS: file, PAGERDUTY_TOKEN: 'x', TOCSIN_CONFIG_DIR: folder.path, TOCSIN_TOKEN: 'tcs_x' },
    TOCSIN_URL: 'https://acme.tocsin.example',
  };
  server.respond = () => behave.answer(403);
});
afterEach(() => {
  proxy.requests = [];
  server.requests = [];
});

const targets = () => [...new Set(proxy.requests.map(({ target }) => target))];
/** Each into a folder of its own. */
let fetches = 0;
const fetchHistory = async (env: TocsinSettings, url = 'https://api.source.example') =>
  runTocsin({ ...settings, ...env }, [
    'import',
    'pagerduty',
    'fetch',
    path.join(folder.path, `${(fetches += 1)}`),
    '--url',
    url,
  ]);

test.each(['HTTPS_PROXY', 'https_proxy'])(
  'a transfer fetches its source through %s, with its credentials',
  async (name) => {
    const url = new URL(proxy.url);
    Object.assign(url, { username: 'ana', password: 'a:b' });
    const { code, stderr } = await fetchHistory({ [name]: url.href });
    expect([code, stderr]).toEqual([1, expect.stringContaining('responded with 403')]);
    expect(targets()).toEqual(['api.source.example:443']);
    expect(proxy.requests[0]?.authorization).toBe(`Basic ${Buffer.from('ana:a:b').toString('base64')}`);
  },
);

test('every command reaches the workspace through it, with a scheme or without', async () => {
  const { stderr } = await runTocsin({ ...settings, HTTPS_PROXY: new URL(proxy.url).host }, ['whoami']);
  expect(stderr).toContain('403');
  expect(targets()).toEqual(['acme.tocsin.example:443']);
});

test('NO_PROXY and this machine are reached without it, and plain HTTP, too', async () => {
  const own = `https://127.0.0.1:${server.port}`;
  for (const env of [{}, { HTTP_PROXY: proxy.url }])
    expect((await fetchHistory({ HTTPS_PROXY: proxy.url, ...env }, own)).stderr).toContain('responded with 403');
  for (const NO_PROXY of ['source.example', 'other.example .source.example', 'other.example,*']) {
    const env = { ...settings, HTTPS_PROXY: proxy.url, NO_PROXY, TOCSIN_URL: 'https://api.source.example' };
    // There is no such host.
    expect([NO_PROXY, (await runTocsin(env, ['whoami'])).code]).toEqual([NO_PROXY, 3]);
  }
  const plain = { ...settings, HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, TOCSIN_URL: 'http://plain.invalid' };
  expect((await runTocsin(plain, ['whoami'])).code).toBe(3);
  expect(proxy.requests).toEqual([]);
});

test('what is no proxy is refused without being printed', async () => {
  const { code, stderr } = await fetchHistory({ HTTPS_PROXY: 'socks5://ana:secret@proxy.example' });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: HTTPS_PROXY: must be the URL of a proxy, /)]);
  expect(stderr).not.toContain('secret');
});
