import { describe, expect, test } from '@jest/globals';
import { DomainError } from '@tocsin/http';
import { type Actor, checkAccess } from '../src/domain/access.ts';

const owner: Actor = { scopes: ['teams:write'], seat: 'responder', role: 'owner' };
const createTeam = { scope: 'teams:write', needs: ['manage_teams', 'active_responder'] } as const;

const refusal = (actor: Actor, operation: Parameters<typeof checkAccess>[1] = createTeam) => {
  try {
    checkAccess(actor, operation);
    return undefined;
  } catch (error) {
    const { code, details, status } = error as DomainError;
    return { code, details, status };
  }
};

describe('access', () => {
  test('the scope is checked first', () => {
    expect(refusal({ scopes: ['teams:read'], seat: 'none', role: 'viewer' })).toEqual({
      code: 'missing_scope',
      details: { required_scope: 'teams:write' },
      status: 403,
    });
  });

  test('of several scopes one is enough', () => {
    const readFeed = { scope: ['incidents:read', 'teams:read'], needs: [] } as const;
    expect(refusal({ ...owner, scopes: ['teams:read'] }, readFeed)).toBeUndefined();
    expect(refusal(owner, readFeed)).toEqual({
      code: 'missing_scope',
      details: { required_scopes: ['incidents:read', 'teams:read'] },
      status: 403,
    });
  });

  test('then the seat, in whatever order the prerequisites are listed', () => {
    expect(refusal({ ...owner, seat: 'none', role: 'viewer' })).toEqual({
      code: 'responder_seat_required',
      details: { required_seat: 'responder' },
      status: 403,
    });
  });

  test('then the permission', () => {
    expect(refusal({ ...owner, role: 'member' })).toEqual({
      code: 'missing_role_permission',
      details: { required_permission: 'manage_teams' },
      status: 403,
    });
  });

  test.each([
    ['owner', true, true],
    ['admin', true, true],
    ['manager', false, true],
    ['member', false, false],
    ['viewer', false, false],
  ] as const)('%s: manage_settings %s, manage_teams %s', (role, settings, teams) => {
    const may = (permission: 'manage_settings' | 'manage_teams') => {
      try {
        checkAccess({ ...owner, role }, { scope: 'teams:write', needs: [permission] });
        return true;
      } catch {
        return false;
      }
    };
    expect([may('manage_settings'), may('manage_teams')]).toEqual([settings, teams]);
  });

  test('the scope is sufficient for an operation without prerequisites', () => {
    expect(() =>
      checkAccess({ ...owner, seat: 'none', role: 'viewer' }, { scope: 'teams:write', needs: [] }),
    ).not.toThrow();
  });
});
