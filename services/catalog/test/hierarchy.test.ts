import { describe, expect, test } from '@jest/globals';
import { checkParentChange, MAX_LEVELS } from '../src/domain/hierarchy.ts';

const path = (length: number) => Array.from({ length }, (_, index) => index + 100);
const refusal = { code: 'invalid_request', field: 'parent_team_id' };

describe('a change of the parent', () => {
  test('a new team may be on the last level but not below', () => {
    expect(() =>
      checkParentChange({ teamId: undefined, subtreeHeight: 1, pathToRoot: path(MAX_LEVELS - 1) }),
    ).not.toThrow();
    expect(() => checkParentChange({ teamId: undefined, subtreeHeight: 1, pathToRoot: path(MAX_LEVELS) })).toThrow(
      expect.objectContaining(refusal),
    );
  });

  test('a team moves together with the teams below it', () => {
    expect(() => checkParentChange({ teamId: 1, subtreeHeight: 4, pathToRoot: path(28) })).not.toThrow();
    expect(() => checkParentChange({ teamId: 1, subtreeHeight: 5, pathToRoot: path(28) })).toThrow(
      expect.objectContaining(refusal),
    );
  });

  test('a team is never below itself', () => {
    expect(() => checkParentChange({ teamId: 100, subtreeHeight: 1, pathToRoot: [100] })).toThrow(
      expect.objectContaining(refusal),
    );
    expect(() => checkParentChange({ teamId: 102, subtreeHeight: 1, pathToRoot: path(5) })).toThrow(
      expect.objectContaining(refusal),
    );
  });
});
