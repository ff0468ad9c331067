import { expect, test } from '@jest/globals';
import { readConfig } from '@tocsin/runtime';
import { egressOf, receiverSettings } from '../src/index.ts';
import { egressProxy } from '../src/proxy.ts';

const proxyOf = (env: Record<string, string>) =>
  egressOf({ NODE_ENV: 'test', ...readConfig(receiverSettings, env) }).proxy?.urlFor(new URL('https://hooks.example/'))
    ?.href;

test('is read from the usual settings', () => {
  expect(proxyOf({})).toBeUndefined();
  expect(proxyOf({ HTTPS_PROXY: 'http://user:pass@proxy.corp:3128' })).toBe('http://user:pass@proxy.corp:3128/');
  expect(proxyOf({ HTTPS_PROXY: 'proxy.corp:3128' })).toBe('http://proxy.corp:3128/');
  expect(proxyOf({ https_proxy: 'https://lower.corp', HTTPS_PROXY: 'http://upper.corp' })).toBe('https://lower.corp/');
  expect(proxyOf({ HTTPS_PROXY: 'http://proxy.corp:3128', NO_PROXY: 'other.example, .example' })).toBeUndefined();
  expect(proxyOf({ HTTPS_PROXY: 'http://p', no_proxy: 'hooks.example', NO_PROXY: '' })).toBeUndefined();
  expect(proxyOf({ HTTP_PROXY: 'http://proxy.corp:3128', ALL_PROXY: 'http://proxy.corp:3128' })).toBeUndefined();
});

test.each(['socks5://proxy.corp:1080', 'http://', 'http://proxy.corp:99999', 'http://us%er@proxy.corp'])(
  '%s is no proxy',
  (url) => expect(() => proxyOf({ HTTPS_PROXY: url })).toThrow(/^HTTPS_PROXY: must be the URL of a proxy/),
);

test('the error of a malformed one does not contain it, since it may have a password', () => {
  expect(() => proxyOf({ HTTPS_PROXY: 'http://user:hidden@proxy.corp:99999' })).not.toThrow(/hidden/);
});

test('a test receiver, which is on this machine, is reached without it', () => {
  const { proxy } = egressOf({
    NODE_ENV: 'test',
    ...readConfig(receiverSettings, { HTTPS_PROXY: 'http://proxy.corp', WEBHOOK_TEST_RECEIVERS: 'localhost:9443' }),
  });
  expect(proxy?.urlFor(new URL('https://localhost:9443/'))).toBeUndefined();
});

test.each([
  ['*', 'https://hooks.example/', true],
  ['hooks.example', 'https://hooks.example/', true],
  ['HOOKS.example', 'https://hooks.EXAMPLE./', true],
  ['example', 'https://hooks.example/', true],
  ['.example', 'https://hooks.example/', true],
  ['*.example', 'https://hooks.example/', true],
  ['ooks.example', 'https://hooks.example/', false],
  ['hooks.example:443', 'https://hooks.example/', true],
  ['hooks.example:8443', 'https://hooks.example/', false],
  ['hooks.example:8443', 'https://hooks.example:8443/', true],
  ['10.0.0.0/8', 'https://10.1.2.3/', true],
  ['10.0.0.0/8', 'https://11.1.2.3/', false],
  ['10.0.0.0/8', 'https://hooks.example/', false],
  ['10.1.2.3', 'https://10.1.2.3/', true],
  ['10.1.2.3:8443', 'https://10.1.2.3:8443/', true],
  ['10.1.2.3:8443', 'https://10.1.2.3/', false],
  ['fd00::/8', 'https://[fd12::1]/', true],
  ['fd12::1', 'https://[fd12::1]/', true],
  ['[fd12::1]:443', 'https://[fd12::1]/', true],
  ['[fd12::1]:8443', 'https://[fd12::1]/', false],
  ['10.0.0.0/99', 'https://10.1.2.3/', false],
  ['<local>', 'https://hooks.example/', false],
  ['none.example', 'http://hooks.example/', true],
])('NO_PROXY=%s and %s: direct %s', (exception, url, isDirect) => {
  const { urlFor } = egressProxy({ url: new URL('http://proxy.corp:3128'), exceptions: [exception] });
  expect(urlFor(new URL(url)) === undefined).toBe(isDirect);
});
