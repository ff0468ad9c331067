import { describe, expect, test } from '@jest/globals';
import { clientAddress, clientNetwork, trustedProxies } from '../../src/limits/domain/client-address.ts';

const noProxies = trustedProxies([]);
const ourProxies = trustedProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']);

describe('the client of a request', () => {
  test('is the peer unless the peer is a trusted proxy', () => {
    expect(clientAddress('198.51.100.1', '203.0.113.9', noProxies)).toBe('198.51.100.1');
    expect(clientAddress('198.51.100.1', '203.0.113.9', ourProxies)).toBe('198.51.100.1');
    expect(clientAddress('10.1.1.1', undefined, ourProxies)).toBe('10.1.1.1');
  });

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['1.1.1.1, 203.0.113.9', '203.0.113.9'],
    ['1.1.1.1, 203.0.113.9, 10.2.2.2', '203.0.113.9'],
    ['203.0.113.9,10.2.2.2,192.0.2.7', '203.0.113.9'],
    ['203.0.113.9:4711', '203.0.113.9'],
    ['[2001:dead::1]:4711', '2001:dead::1'],
    ['2001:DEAD:0::1', '2001:dead::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['10.3.3.3, 10.2.2.2', '10.3.3.3'],
  ])('behind a trusted proxy, X-Forwarded-For: %s means %s', (header, client) => {
    expect(clientAddress('10.1.1.1', header, ourProxies)).toBe(client);
  });

  test('an entry that is not an address ends the chain at the last known proxy', () => {
    expect(clientAddress('10.1.1.1', '203.0.113.9, unknown', ourProxies)).toBe('10.1.1.1');
    expect(clientAddress('10.1.1.1', '203.0.113.9, nonsense, 10.2.2.2', ourProxies)).toBe('10.2.2.2');
    expect(clientAddress('10.1.1.1', '', ourProxies)).toBe('10.1.1.1');
  });

  test('IPv4-mapped IPv6 addresses are read as IPv4', () => {
    expect(clientAddress('::ffff:10.1.1.1', '203.0.113.9', ourProxies)).toBe('203.0.113.9');
    expect(clientAddress('2001:db8::5', '203.0.113.9', ourProxies)).toBe('203.0.113.9');
    expect(clientAddress('::ffff:198.51.100.1', undefined, noProxies)).toBe('198.51.100.1');
  });

  test('is counted by its IPv4 address or its IPv6 /64', () => {
    expect(clientNetwork('203.0.113.9')).toBe('203.0.113.9');
    expect(clientNetwork('2001:dead::1')).toBe(clientNetwork('2001:dead::ffff:1'));
    expect(clientNetwork('2001:dead::1')).not.toBe(clientNetwork('2001:dead:0:1::1'));
  });

  test('the error for an entry that is not a network names it', () => {
    expect(() => trustedProxies(['10.0.0.0/8', 'proxy.local'])).toThrow('proxy.local');
    expect(() => trustedProxies(['10.0.0.0/33'])).toThrow('10.0.0.0/33');
  });
});
