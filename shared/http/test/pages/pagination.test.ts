import { describe, expect, test } from '@jest/globals';
import { generateSecretKeys, openKeyring } from '@tocsin/runtime';
import {
  CURSOR_PURPOSE,
  type CursorScope,
  cursorsOf,
  type KeyType,
  type SortSegment,
  type SegmentPosition,
  signedCursors,
} from '../../src/index.ts';

const all = signedCursors(openKeyring(generateSecretKeys(), CURSOR_PURPOSE));
const cursors = cursorsOf(all, { name: 'id', keys: ['integer'] });
const scope: CursorScope = { workspaceId: 1, path: '/things', filters: { status: ['open'], sort: 'name' } };

describe('cursors', () => {
  test('decode to the position that was encoded', () => {
    const keys = ['timestamp', 'integer', 'text', 'boolean', 'decimal', 'date', 'time'] as const;
    const position = {
      segment: 'everything',
      position: ['2026-11-20T09:30:00.000Z', 12, 'é"|\n', true, '-0.50', '2026-11-20', '09:30:00.5'],
    };
    const segments = [
      { name: 'nothing', keys: [] },
      { name: 'everything', keys },
    ];
    expect(all.decode(all.encode(position, scope), scope, segments)).toEqual(position);
    const start = { segment: 'nothing', position: [] };
    expect(all.decode(all.encode(start, scope), scope, segments)).toEqual(start);
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
  ])('are rejected for %s', (_what, other) => {
    expect(() => cursors.decode(cursors.encode([1], scope), other)).toThrow(
      expect.objectContaining({ code: 'invalid_request', field: 'cursor' }),
    );
  });

  test('are rejected after any change', () => {
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

  test('of another installation are rejected', () => {
    const others = signedCursors(openKeyring(generateSecretKeys(), CURSOR_PURPOSE));
    const theirs = others.encode({ segment: 'id', position: [1] }, scope);
    expect(() => cursors.decode(theirs, scope)).toThrow(expect.objectContaining({ field: 'cursor' }));
  });
});

describe('a cursor of another release', () => {
  const expectRejected = (position: SegmentPosition, segments: readonly SortSegment[]) =>
    expect(() => all.decode(all.encode(position, scope), scope, segments)).toThrow(
      expect.objectContaining({ code: 'invalid_request', field: 'cursor' }),
    );

  test('is rejected if it names no segment of the list', () => {
    expectRejected({ segment: 'name', position: [1] }, [{ name: 'id', keys: ['integer'] }]);
    expectRejected({ segment: 0 as unknown as string, position: [1] }, [{ name: 'id', keys: ['integer'] }]);
    expectRejected({ segment: 'x', position: [1] }, [{ name: 'id', keys: ['text', 'integer'] }]);
  });

  test.each<[KeyType[], (string | number | boolean)[]]>([
    [['integer'], []],
    [['integer'], [1, 2]],
    [['integer'], ['1']],
    [['integer'], [1.5]],
    [['text'], [1]],
    [['boolean'], [0]],
    [['decimal'], [1]],
    [['decimal'], ['x']],
    [['timestamp'], ['2026-11-20']],
    [['date'], ['2026-11-20T09:30:00.000Z']],
    [['time'], ['2026-11-20']],
  ])('is rejected if its keys are not %j: %j', (keys, position) =>
    expectRejected({ segment: 'x', position }, [{ name: 'x', keys }]),
  );
});
