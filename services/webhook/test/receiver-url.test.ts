import { describe, expect, test } from '@jest/globals';
import { DomainError } from '@tocsin/http';
import { readReceiverUrl, URL_PATTERN } from '../src/subscriptions/domain/receiver-url.ts';

const allowing = (...testReceivers: string[]) => ({ testReceivers: new Set(testReceivers), networks: [] });
const none = allowing();

describe('a valid receiver URL', () => {
  test.each([
    ['https://hooks.example.com/path?token=a', 'https://hooks.example.com', 'hooks.example.com'],
    ['https://hooks.example.com', 'https://hooks.example.com', 'hooks.example.com'],
    ['HTTPS://Hooks.Example.COM/Path', 'https://hooks.example.com', 'hooks.example.com'],
    ['https://hooks.example.com:443/', 'https://hooks.example.com', 'hooks.example.com'],
    ['https://hooks.example.com/@team/a:b', 'https://hooks.example.com', 'hooks.example.com'],
    ['https://hooks.example.com/?next=https://user@other/', 'https://hooks.example.com', 'hooks.example.com'],
    ['https://hooks.example.com/%23not-a-fragment', 'https://hooks.example.com', 'hooks.example.com'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['https://my_receiver.example.com/', 'https://my_receiver.example.com', 'my_receiver.example.com'],
    ['https://notlocalhost.example.com/', 'https://notlocalhost.example.com', 'notlocalhost.example.com'],
    ['https://localhost.example.com/', 'https://localhost.example.com', 'localhost.example.com'],
    ['https://8.8.8.8/', 'https://8.8.8.8', '8.8.8.8'],
    ['https://134744072/', 'https://8.8.8.8', '8.8.8.8'],
    ['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]', '2606:4700:4700::1111'],
    ['https://[::ffff:8.8.8.8]/', 'https://[::ffff:808:808]', '8.8.8.8'],
  ])('%s', (text, origin, host) => {
    expect(readReceiverUrl(text, none)).toMatchObject({ origin, host });
    expect(text).toMatch(new RegExp(URL_PATTERN));
  });

  test('matches the published pattern, whatever character is in its host, path and query', () => {
    const accepts = (text: string) => {
      try {
        return readReceiverUrl(text, none).href !== '';
      } catch {
        return false;
      }
    };
    const texts = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).flatMap((character) =>
      ['host', '/path', '?query'].map((place) => `https://a.example${place}`.replace('host', character) + character),
    );
    const accepted = texts.filter(accepts);
    expect(accepted.length).toBeGreaterThan(100_000);
    expect(accepted.filter((text) => !new RegExp(URL_PATTERN).test(text))).toEqual([]);
  });

  test('keeps the complete URL; its origin has no port, path or query', () => {
    const { href, origin } = readReceiverUrl('https://hooks.example.com:443/a/b?c=d', none);
    expect({ href, origin }).toEqual({
      href: 'https://hooks.example.com/a/b?c=d',
      origin: 'https://hooks.example.com',
    });
  });
});

const INVALID = [
  // not an absolute https URL
  '',
  'hooks.example.com',
  '//hooks.example.com/',
  'http://hooks.example.com/',
  'ftp://hooks.example.com/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https:hooks.example.com',
  'https:/hooks.example.com',
  'https:///hooks.example.com',
  'https://',
  'https://?a',
  'https://%/',
  // characters that a URL parser drops or repairs
  ' https://hooks.example.com/',
  'https://hooks.example.com/ ',
  'https://hooks.example.com/a b',
  'https://hooks.exam\tple.com/',
  'https://hooks.example.com/\r\nHost: other',
  'https://hooks.example.com\\@127.0.0.1/',
  'https:\\\\hooks.example.com\\',
  'https://hooks.example.com/\u0000',
  // credentials and fragments, including empty ones
  'https://user:password@hooks.example.com/',
  'https://user@hooks.example.com/',
  'https://@hooks.example.com/',
  'https://:@hooks.example.com/',
  'https://hooks.example.com@127.0.0.1/',
  'https://hooks.example.com/#fragment',
  'https://hooks.example.com/#',
  'https://hooks.example.com?#',
  // ports
  'https://hooks.example.com:8443/',
  'https://hooks.example.com:80/',
  'https://hooks.example.com:22',
  'https://hooks.example.com:0/',
  'https://hooks.example.com:65536/',
  // localhost and other names that are never public
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://a.localhost/',
  'https://localhost.localdomain/',
  'https://ip6-localhost/',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://router.home.arpa/',
  'https://intranet/',
  'https://hooks.example.com./',
  'https://hooks..example.com/',
  'https://.example.com/',
  'https://-/',
  `https://${'a'.repeat(64)}.example.com/`,
  `https://${'a.'.repeat(127)}example.com/`,
  'https://loc\u00ADalhost/',
  'https://ⓛocalhost/',
  // addresses in other notations; shared/safe-http tests which ones are public
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f.0.0.1/',
  'https://017700000001/',
  'https://１２７.0.0.1/',
  'https://%31%32%37.0.0.1/',
  'https://127.0.0.1./',
  'https://256.0.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[fe80::1%25eth0]/',
];

test.each(INVALID)('rejects %j', (text) => {
  expect(() => readReceiverUrl(text, none)).toThrow(
    expect.objectContaining({ constructor: DomainError, code: 'invalid_request', field: 'url' }),
  );
});

test.each([
  ['https://hooks.example.com:8443/', 'Must use port 443; '],
  ['https://10.0.0.1/', 'Must not be a private or special-purpose address; '],
  ['https://hooks.internal/', 'Must have a public host name; '],
])('the refusal of %s names the settings that open such receivers', (text, message) => {
  expect(() => readReceiverUrl(text, none)).toThrow(
    new RegExp(`^${message}an operator can .* WEBHOOK_ALLOWED_NETWORKS .*, or with WEBHOOK_TEST_RECEIVERS for tests$`),
  );
});

describe('test receivers', () => {
  const receivers = allowing('localhost:8443', '127.0.0.1:9443', '[::1]:9443', 'receiver.test:443');

  test.each([
    ['https://localhost:8443/hook', 'https://localhost', 'localhost'],
    ['https://127.0.0.1:9443/', 'https://127.0.0.1', '127.0.0.1'],
    ['https://[::1]:9443/', 'https://[::1]', '::1'],
    ['https://receiver.test/', 'https://receiver.test', 'receiver.test'],
  ])('%s is valid when it is a test receiver', (text, origin, host) => {
    expect(readReceiverUrl(text, receivers)).toMatchObject({ origin, host });
  });

  test.each(['https://localhost:8444/', 'https://localhost/', 'https://127.0.0.1:8443/', 'http://localhost:8443/'])(
    '%s is rejected because the host:port pair must be exact',
    (text) => expect(() => readReceiverUrl(text, receivers)).toThrow(DomainError),
  );

  test.each(['https://a@localhost:8443/', 'https://localhost:8443/#'])(
    '%s is rejected even for a test receiver',
    (text) => expect(() => readReceiverUrl(text, receivers)).toThrow(DomainError),
  );
});
