import { describe, expect, test } from '@jest/globals';
import { parseTarget } from '../../src/requests/domain/request-target.ts';

const plain = { host: undefined, wellFormed: true };

describe('the target of a request line', () => {
  test.each([
    ['/api/v1/incidents', { ...plain, path: '/api/v1/incidents', search: '' }],
    ['/a?b=c?d', { ...plain, path: '/a', search: '?b=c?d' }],
    ['/a?', { ...plain, path: '/a', search: '?' }],
    ['/a%2Fb/%zz', { ...plain, path: '/a%2Fb/%zz', search: '' }],
    ['http://acme.localhost/a?b', { ...plain, host: 'acme.localhost', path: '/a', search: '?b' }],
    ['HTTPS://acme.localhost:1', { ...plain, host: 'acme.localhost:1', path: '/', search: '' }],
    ['http://acme.localhost?b', { ...plain, host: 'acme.localhost', path: '/', search: '?b' }],
  ])('%s', (raw, target) => expect(parseTarget(raw)).toEqual(target));

  test.each([
    '*',
    '',
    'a',
    '/a#b',
    '/a?b#c',
    '/a\\b',
    '/a"b',
    '/a{b}',
    '/a|b',
    '/a b',
    '/ä',
    '/a?ä',
    'ftp://a/b',
    'example.com:443',
    '/a\0',
  ])('%j is not well-formed', (raw) => expect(parseTarget(raw).wellFormed).toBe(false));
});
