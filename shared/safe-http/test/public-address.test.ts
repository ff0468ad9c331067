import { expect, test } from '@jest/globals';
import { isLocalName, isLoopbackAddress, isPublicAddress, reachedAddress } from '../src/index.ts';

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '93.184.216.34',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80b::200e',
  '::ffff:8.8.8.8',
  '168.63.129.15',
  '161.25.255.255',
  '166.12.0.0',
  '199.36.153.12',
  '2001:200::1',
  '64:ff9b::808:808',
])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '100.100.100.200',
  '161.26.0.10',
  '166.9.255.255',
  '168.63.129.16',
  '::ffff:168.63.129.16',
  '172.31.255.255',
  '192.0.0.192',
  '199.36.153.8',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:0:10.0.0.1',
  '64:ff9b::a00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b::a83f:8110',
  '64:ff9b::1:808:808',
  '64:ff9b:1::808:808',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:2::1',
  '2001:3::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:808:808::1',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff0e::1',
  'localhost',
  '0x7f.1',
  '',
])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));

test.each(['localhost', 'a.localhost', 'localhost.', 'printer.local', 'metadata.google.internal', 'x.home.arpa'])(
  '%s is a local name',
  (host) => expect(isLocalName(host)).toBe(true),
);

test.each(['example.com', 'localhost.example.com', 'mylocalhost', 'internal.example', '127.0.0.1'])(
  '%s is not a local name',
  (host) => expect(isLocalName(host)).toBe(false),
);

test('recognises loopback addresses of IPv4 and IPv6', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].map(isLoopbackAddress)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(['10.0.0.1', '8.8.8.8', '::7f00:1', 'localhost'].map(isLoopbackAddress)).toEqual([false, false, false, false]);
});

test('limits count an address once, however it is written or translated', () => {
  expect(reachedAddress('::ffff:8.8.8.8')).toBe('8.8.8.8');
  expect(reachedAddress('::FFFF:0808:0808')).toBe('8.8.8.8');
  expect(reachedAddress('2606:4700:4700:0:0:0:0:1111')).toBe('2606:4700:4700::1111');
  expect(reachedAddress('64:ff9b::808:808')).toBe('8.8.8.8');
  // NAT64 must not translate these.
  expect(reachedAddress('64:ff9b::10.0.0.1')).toBe('64:ff9b::a00:1');
});
