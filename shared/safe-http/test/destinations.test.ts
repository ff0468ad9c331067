import { describe, expect, test } from '@jest/globals';
import { findDestinationProblem, hostAndPort, publicOrAllowed, readNetworks } from '../src/index.ts';

const allowing = (networks: string[], testReceivers: string[] = []) => ({
  testReceivers: new Set(testReceivers),
  networks: readNetworks(networks).networks,
});
const allows = (address: string, target: string, networks: string[], testReceivers: string[] = []) =>
  publicOrAllowed(allowing(networks, testReceivers))(address, new URL(`https://${target}`));

describe('without networks', () => {
  test.each([
    ['8.8.8.8', 'anything.example', true],
    ['8.8.8.8', 'anything.example:8443', false],
    ['127.0.0.1', 'localhost:8443', true],
    ['::1', 'localhost:8443', true],
    ['127.0.0.1', 'localhost', false],
    ['127.0.0.1', '127.0.0.1:8443', false],
    ['10.0.0.1', 'localhost:8443', false],
    ['8.8.8.8', 'localhost:8443', false],
  ])('%s for %s: %s', (address, target, expected) =>
    expect(allows(address, target, [], ['localhost:8443'])).toBe(expected),
  );
});

test('a URL without a port uses port 443', () => {
  expect(hostAndPort(new URL('https://LocalHost/x'))).toBe('localhost:443');
  expect(hostAndPort(new URL('https://[::1]:9443/x'))).toBe('[::1]:9443');
});

describe('networks', () => {
  test.each([
    ['10.1.2.3', 'hooks.corp:8443', ['10.0.0.0/8:8443'], true],
    ['10.1.2.3', 'hooks.corp', ['10.0.0.0/8:8443'], false],
    ['10.1.2.3', 'hooks.corp:9443', ['10.0.0.0/8:8443', '10.9.0.0/16:9443'], false],
    ['10.1.2.3', 'hooks.corp', ['192.168.0.0/16:443', '10.1.2.0/24:443'], true],
    ['11.0.0.1', 'hooks.corp:8443', ['10.0.0.0/8:8443'], false],
    ['100.64.1.1', 'hooks.corp', ['100.64.0.0/10:443'], true],
    ['fd12::7', 'hooks.corp', ['fd00::/8:443'], true],
    ['fd12::7', 'hooks.corp', ['10.0.0.0/8:443'], false],
    ['::ffff:10.1.2.3', 'hooks.corp', ['10.0.0.0/8:443'], true],
    ['8.8.8.8', 'hooks.example:8443', ['8.8.8.0/24:8443'], true],
    ['8.8.4.4', 'hooks.example:8443', ['8.8.8.0/24:8443'], false],
  ])('%s for %s with %j: %s', (address, target, networks, expected) =>
    expect(allows(address, target, networks)).toBe(expected),
  );

  test.each([
    ['127.0.0.1', '0.0.0.0/0', '127.0.0.1/32'],
    ['0.0.0.0', '0.0.0.0/0', '0.0.0.0/32'],
    ['169.254.169.254', '0.0.0.0/0', '169.254.169.254/32'],
    ['224.0.0.1', '0.0.0.0/0', '224.0.0.1/32'],
    ['100.100.100.200', '100.64.0.0/10', '100.100.100.200/32'],
    ['192.0.0.192', '192.0.0.0/24', '192.0.0.192/32'],
    ['168.63.129.16', '168.0.0.0/8', '168.63.129.16/32'],
    ['::1', '::/0', '::1/128'],
    ['::7f00:1', '::/0', '::7f00:1/128'],
    ['64:ff9b::7f00:1', '64::/16', '64:ff9b::7f00:1/128'],
    ['2002:7f00:1::', '2000::/3', '2002:7f00:1::/128'],
    ['fe80::1', '::/0', 'fe80::1/128'],
    ['fd00:ec2::254', 'fd00::/8', 'fd00:ec2::254/128'],
    ['fd20:ce::254', 'fc00::/7', 'fd20:ce::254/128'],
  ])('%s is opened by no network, only by itself', (address, network, itself) => {
    expect(allows(address, 'hooks.corp', [`${network}:443`])).toBe(false);
    expect(allows(address, 'hooks.corp', [`${itself}:443`])).toBe(true);
  });
});

describe('the text of a URL', () => {
  const problem = (url: string, ...networks: string[]) => findDestinationProblem(new URL(url), allowing(networks));

  test.each([
    ['https://hooks.example.com:8443/', 'port'],
    ['https://10.0.0.1/', 'address'],
    ['https://intranet/', 'name'],
    ['https://hooks.internal/', 'name'],
  ])('%s without networks: %s', (url, expected) => expect(problem(url)).toBe(expected));

  test.each([
    ['https://hooks.example.com:8443/', undefined],
    ['https://hooks.internal:8443/', undefined],
    ['https://intranet:8443/', undefined],
    ['https://10.0.0.1:8443/', undefined],
    ['https://11.0.0.1:8443/', 'address'],
    ['https://127.0.0.1:8443/', 'address'],
    ['https://localhost:8443/', 'name'],
    ['https://a.localhost:8443/', 'name'],
    ['https://hooks..example.com:8443/', 'name'],
    ['https://hooks.example.com:8444/', 'port'],
    ['https://10.0.0.1/', 'address'],
    ['https://hooks.internal/', 'name'],
    ['https://hooks.example.com/', undefined],
  ])('%s with 10.0.0.0/8:8443: %s', (url, expected) => expect(problem(url, '10.0.0.0/8:8443')).toBe(expected));

  test('localhost is both loopback addresses', () => {
    expect(problem('https://localhost:8443/', '127.0.0.1/32:8443')).toBe('name');
    expect(problem('https://localhost:8443/', '127.0.0.1/32:8443', '::1/128:8443')).toBeUndefined();
  });
});

describe('a setting', () => {
  const problemsOf = (...items: string[]) => readNetworks(items).problems;

  test('has networks with a port', () => {
    expect(readNetworks(['10.0.0.0/8:8443', 'FD00::/8:443', '169.254.169.254/32:443'])).toEqual({
      networks: [
        { cidr: '10.0.0.0/8', port: 8443 },
        { cidr: 'fd00::/8', port: 443 },
        { cidr: '169.254.169.254/32', port: 443 },
      ],
      problems: [],
    });
  });

  test.each([
    '10.0.0.0/8',
    '10.0.0.0:443',
    '10.0.0.0/33:443',
    '10.0.0/8:443',
    '010.0.0.0/8:443',
    '10.0.0.0/8:0',
    '10.0.0.0/8:65536',
    '10.0.0.0/8:443-8443',
    'fd00::/129:443',
    '[fd00::]/8:443',
    '::ffff:10.0.0.0/104:443',
    'hooks.corp:443',
    '*:443',
  ])('%s is malformed', (item) => {
    expect(problemsOf(item)).toEqual([expect.stringMatching(/^must be networks with a port, such as .*, not /)]);
    expect(problemsOf(item)[0]).toContain(item);
  });

  test('names the address that a network begins at', () => {
    expect(problemsOf('10.1.2.3/8:443')).toEqual([
      'the network of 10.1.2.3/8:443 begins at 10.0.0.0: must be 10.0.0.0/8:443',
    ]);
  });

  test.each(['127.0.0.0/8:443', '169.254.0.0/16:443', 'fe80::/10:443', '224.0.0.0/4:443'])(
    '%s opens nothing, so it is refused',
    (item) => expect(problemsOf(item)).toEqual([expect.stringContaining('must be named one by one')]),
  );

  test('has at most 100 networks', () => {
    expect(problemsOf(...Array.from({ length: 101 }, (_, n) => `10.0.${n}.0/24:443`))).toEqual([
      'must have at most 100 networks',
    ]);
  });
});
