import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type DomainError, pageQuery, pathId, readPath, readQuery, validate } from '../../src/index.ts';

const query = z.strictObject({
  ...pageQuery,
  status: z.array(z.string()).max(3).optional(),
  team_id: z.array(z.int().min(1)).optional(),
  active_only: z.boolean().optional(),
  q: z.string().optional(),
});

const read = (search: string) => {
  try {
    return validate(query, readQuery(search, query));
  } catch (error) {
    const { code, field } = error as DomainError;
    return `${code} ${field}`;
  }
};

describe('query parameters', () => {
  test.each([
    ['', {}],
    ['limit=1', { limit: 1 }],
    ['status=open', { status: ['open'] }],
    ['status=open&status=on-hold', { status: ['open', 'on-hold'] }],
    ['team_id=7&team_id=8', { team_id: [7, 8] }],
    ['active_only=false', { active_only: false }],
    ['q=a%20b+c%2B', { q: 'a b c+' }],
    ['q=', { q: '' }],
    ['q=a=b', { q: 'a=b' }],
  ])('%j is read', (search, expected) => expect(read(search)).toEqual(expected));

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=', 'limit'],
    ['limit=1.0', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=0x10', 'limit'],
    ['limit=%201', 'limit'],
    ['limit=10&limit=10', 'limit'],
    ['team_id=9007199254740992', 'team_id'],
    ['team_id=1&team_id=0', 'team_id.1'],
    ['active_only=1', 'active_only'],
    ['active_only=TRUE', 'active_only'],
    ['cursor=', 'cursor'],
    ['statuss=open', 'statuss'],
    ['__proto__=1', '__proto__'],
    ['constructor=1', 'constructor'],
    ['q=%00', 'q'],
    ['q=%ff', 'q'],
    ['q=%', 'q'],
    ['q=a&q=b', 'q'],
    ['status=a&status=b&status=c&status=d', 'status'],
  ])('%j is rejected with the name of the parameter', (search, field) =>
    expect(read(search)).toBe(`invalid_request ${field}`),
  );
});

describe('path IDs', () => {
  const params = z.strictObject({ id: pathId });
  const readId = (id: string) => {
    try {
      return validate(params, readPath({ id }, params)).id;
    } catch (error) {
      return (error as DomainError).field;
    }
  };

  test.each(['0', '-1', '1.0', 'x', '', ' 1', '01', '1e3', '٣'])('%j is not an ID', (id) =>
    expect(readId(id)).toBe('id'),
  );

  test('an ID larger than any row is valid', () => {
    expect(readId('12')).toBe(12);
    expect(readId('9'.repeat(40))).toBe(Number.MAX_SAFE_INTEGER);
  });
});
