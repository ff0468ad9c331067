import { describe, expect, test } from '@jest/globals';
import { generateSecretKeys, openKeyring } from '@tocsin/runtime';
import { CURSOR_PURPOSE, type CursorScope, paginate, signedCursors } from '../src/index.ts';

const cursors = signedCursors(openKeyring(generateSecretKeys(), CURSOR_PURPOSE));
const scope: CursorScope = { workspaceId: 1, path: '/things', filters: { status: ['open'], sort: 'name' } };

describe('cursors', () => {
  test('come back as the position they were made of', () => {
    const position = ['2026-11-20T09:30:00.000Z', 12, null, 'é"|\n', true];
    expect(cursors.decode(cursors.encode(position, scope), scope)).toEqual(position);
  });

  test('do not depend on the order of the keys of their scope', () => {
    const other = { filters: { sort: 'name', status: ['open'] }, path: '/things', workspaceId: 1 };
    expect(cursors.decode(cursors.encode([1], scope), other)).toEqual([1]);
  });

  test.each<[string, CursorScope]>([
    ['another workspace', { ...scope, workspaceId: 2 }],
    ['another path', { ...scope, path: '/others' }],
    ['other filters', { ...scope, filters: { status: ['closed'], sort: 'name' } }],
    ['no filters', { workspaceId: 1, path: '/things' }],
  ])('are refused for %s', (_what, other) => {
    expect(() => cursors.decode(cursors.encode([1], scope), other)).toThrow(
      expect.objectContaining({ code: 'invalid_request', field: 'cursor' }),
    );
  });

  test('are refused when anything about them was changed', () => {
    const cursor = cursors.encode([100], scope);
    const forged = [
      cursor.slice(0, -2),
      `A${cursor}`,
      cursor.replace(/.$/, '-'),
      `${cursor}=`,
      'AAAA',
      '{}',
      cursor.toUpperCase(),
    ];
    for (const text of forged) {
      expect(() => cursors.decode(text, scope)).toThrow(expect.objectContaining({ field: 'cursor' }));
    }
  });

  test('of another installation are refused', () => {
    const theirs = signedCursors(openKeyring(generateSecretKeys(), CURSOR_PURPOSE)).encode([1], scope);
    expect(() => cursors.decode(theirs, scope)).toThrow(expect.objectContaining({ field: 'cursor' }));
  });
});

describe('pages', () => {
  const page = (rows: number[], limit: number) => paginate({ rows, limit, nextCursor: (last) => `after ${last}` });

  test('tell of the next one only where there is one', () => {
    expect(page([1, 2, 3], 2)).toEqual({
      page: [1, 2],
      pagination: { limit: 2, has_more: true, next_cursor: 'after 2' },
    });
    expect(page([1, 2], 2)).toEqual({ page: [1, 2], pagination: { limit: 2, has_more: false } });
    expect(page([], 2)).toEqual({ page: [], pagination: { limit: 2, has_more: false } });
  });
});
