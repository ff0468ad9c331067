import { describe, expect, test } from '@jest/globals';
import { checkPlacement, MAX_LEVELS } from '../src/domain/hierarchy.ts';

const line = (length: number) => Array.from({ length }, (_, index) => index + 100);
const refusal = { code: 'invalid_request', field: 'parent_team_id' };

describe('the place of a team', () => {
  test('a new team may be the last level, and no more', () => {
    expect(() => checkPlacement({ teamId: undefined, height: 1, line: line(MAX_LEVELS - 1) })).not.toThrow();
    expect(() => checkPlacement({ teamId: undefined, height: 1, line: line(MAX_LEVELS) })).toThrow(
      expect.objectContaining(refusal),
    );
  });

  test('a team that moves takes along what is below it', () => {
    expect(() => checkPlacement({ teamId: 1, height: 4, line: line(28) })).not.toThrow();
    expect(() => checkPlacement({ teamId: 1, height: 5, line: line(28) })).toThrow(expect.objectContaining(refusal));
  });

  test('never under itself', () => {
    expect(() => checkPlacement({ teamId: 100, height: 1, line: [100] })).toThrow(expect.objectContaining(refusal));
    expect(() => checkPlacement({ teamId: 102, height: 1, line: line(5) })).toThrow(expect.objectContaining(refusal));
  });
});
