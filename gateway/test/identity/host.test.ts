import { describe, expect, test } from '@jest/globals';
import { isSlug, slugOf } from '../../src/identity/domain/host.ts';

const slugIn = (host: string, baseDomain = 'localhost') => slugOf(host, { baseDomain, defaultWorkspace: undefined });

describe('the workspace of a host', () => {
  test.each([
    ['acme.localhost', 'acme'],
    ['acme.localhost:8080', 'acme'],
    ['ACME.LocalHost:8080', 'acme'],
    ['acme.localhost.', 'acme'],
    ['acme.localhost.:8080', 'acme'],
    ['acme.localhost:', 'acme'],
    ['a-1.localhost', 'a-1'],
    ['7.localhost', '7'],
  ])('%s names the workspace %s', (host, slug) => expect(slugIn(host)).toBe(slug));

  test.each([
    '',
    'localhost',
    '.localhost',
    'localhost:8080',
    'acme',
    'acme.example.com',
    'acme.localhost.example.com',
    'acmelocalhost',
    'www.acme.localhost',
    '-acme.localhost',
    'acme-.localhost',
    'ac_me.localhost',
    'acme.localhost:http',
    'acme.localhost:8080:1',
    'user@acme.localhost',
    'acme.localhost/',
    'acme.localhost..',
    '127.0.0.1',
    '127.0.0.1:8080',
    '[::1]',
    '[::1]:8080',
    '[acme.localhost]',
    `${'a'.repeat(64)}.localhost`,
    'äcme.localhost',
    'acme.localhost, other.localhost',
  ])('%j names no workspace', (host) => expect(slugIn(host)).toBeUndefined());

  test('the base domain may have several labels', () => {
    expect(slugIn('acme.tocsin.example.com', 'tocsin.example.com')).toBe('acme');
    expect(slugIn('tocsin.example.com', 'example.com')).toBe('tocsin');
    expect(slugIn('acme.xtocsin.example.com', 'tocsin.example.com')).toBeUndefined();
  });

  test('a slug is a DNS label', () => {
    expect(['a', 'acme', 'a-b', '0'].every(isSlug)).toBe(true);
    expect(['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a'.repeat(64)].some(isSlug)).toBe(false);
  });
});

describe('the default workspace', () => {
  const slugAt = (host: string) => slugOf(host, { baseDomain: 'tocsin.example.com', defaultWorkspace: 'acme' });

  test.each([
    'tocsin.example.com',
    'Tocsin.Example.com:443',
    'tocsin.example.com.',
    'localhost',
    'LOCALHOST:8080',
    '127.0.0.1',
    '127.0.0.1:8080',
    '192.0.2.7:80',
    '[::1]',
    '[::1]:8080',
    '[2001:db8::7]:80',
  ])('is that of %s', (host) => expect(slugAt(host)).toBe('acme'));

  test.each([
    '',
    'example.com',
    'other.example.com',
    'a.b.tocsin.example.com',
    '-.tocsin.example.com',
    'localhost.example.com',
    '127.0.0',
    '127.0.0.1.example.com',
    '::1',
    '[::1',
    '[::1]x',
    '[acme]',
    '127.0.0.1, acme.tocsin.example.com',
  ])('is not that of %j', (host) => expect(slugAt(host)).toBeUndefined());

  test('is not that of a host that names another workspace', () => {
    expect(slugAt('globex.tocsin.example.com')).toBe('globex');
  });
});
