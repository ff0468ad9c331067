import { DomainError, PERMISSIONS, type Scope } from '@tocsin/http';
import { holdsPermission, type Role, type Seat } from './roles.ts';
import type { Operation } from './route-table.ts';

/** A key and its owner, as far as they decide what a request may do. */
export interface Actor {
  scopes: readonly Scope[];
  seat: Seat;
  role: Role;
}

/**
 * The key's scope first, then the owner's seat, then the owner's permissions (contract: Authentication).
 * @throws DomainError `missing_scope`, `responder_seat_required` or `missing_role_permission`
 */
export function checkAccess(actor: Actor, { scope, needs }: Pick<Operation, 'scope' | 'needs'>): void {
  if (!actor.scopes.includes(scope)) {
    throw new DomainError('missing_scope', `The token lacks the scope ${scope}`, {
      details: { required_scope: scope },
    });
  }
  if (needs.includes('active_responder') && actor.seat !== 'responder') {
    throw new DomainError('responder_seat_required', "The token's owner has no responder seat", {
      details: { required_seat: 'responder' },
    });
  }
  for (const permission of PERMISSIONS) {
    if (!needs.includes(permission) || holdsPermission(actor.role, permission)) continue;
    throw new DomainError('missing_role_permission', `The role of the token's owner lacks ${permission}`, {
      details: { required_permission: permission },
    });
  }
}
