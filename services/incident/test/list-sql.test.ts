import { describe, expect, test } from '@jest/globals';
import { toListColumns } from '../src/incidents/store/list-columns.ts';
import { join, sql } from '../src/shared/store/sql.ts';

describe('a piece of SQL', () => {
  test('keeps its values apart, including those of nested pieces', () => {
    const piece = sql`a = ${1} and ${sql`b = any(${['x', "'; drop table incidents; --"]})`} and c = ${null}`;
    expect(piece.text).toBe('a = ? and b = any(?) and c = ?');
    expect(piece.values).toEqual([1, ['x', "'; drop table incidents; --"], null]);
  });

  test('joins texts and values in order', () => {
    const joined = join([sql`a = ${1}`, sql`b`, sql`c = ${2}`], ' and ');
    expect(joined.text).toBe('a = ? and b and c = ?');
    expect(joined.values).toEqual([1, 2]);
  });
});

describe('the columns for lists', () => {
  test('hold service and regions folded, and null for empty text', () => {
    expect(toListColumns({ workspaceId: 7, service: 'ÜBER', regions: ['EU West', 'Straße'] })).toEqual({
      service_folded: 'über',
      region_folded: 'eu west',
      region_keys: ['7 eu west', '7 strasse'],
    });
    expect(toListColumns({ workspaceId: 7, service: '', regions: [] })).toEqual({
      service_folded: null,
      region_folded: null,
      region_keys: [],
    });
    expect(toListColumns({ workspaceId: 7 })).toEqual({});
  });
});
