import { describe, expect, test } from '@jest/globals';
import { isSlug, slugOf } from '../src/domain/host.ts';

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
  ])('%s names the workspace %s', (host, slug) => expect(slugOf(host, 'localhost')).toBe(slug));

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
  ])('%j names no workspace', (host) => expect(slugOf(host, 'localhost')).toBeUndefined());

  test('the base domain may have several labels', () => {
    expect(slugOf('acme.tocsin.example.com', 'tocsin.example.com')).toBe('acme');
    expect(slugOf('tocsin.example.com', 'example.com')).toBe('tocsin');
    expect(slugOf('acme.xtocsin.example.com', 'tocsin.example.com')).toBeUndefined();
  });

  test('a slug is a DNS label', () => {
    expect(['a', 'acme', 'a-b', '0'].every(isSlug)).toBe(true);
    expect(['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a'.repeat(64)].some(isSlug)).toBe(false);
  });
});
