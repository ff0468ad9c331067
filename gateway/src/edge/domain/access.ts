import type { Scope } from '@tocsin/schemas';
import { checkAccess as checkCaller } from '@tocsin/http';
import { permissionsOf, type Role, type Seat } from '../../identity/domain/roles.ts';
import type { Operation } from '../../routes/domain/route-table.ts';

/** The properties of a key and its owner that decide what a request may do. */
export interface Actor {
  scopes: readonly Scope[];
  seat: Seat;
  role: Role;
}

/**
 * Checks the key's scope, then the owner's seat, then the owner's permissions (contract: Authentication).
 * @throws DomainError `missing_scope`, `responder_seat_required` or `missing_role_permission`
 */
export function checkAccess({ scopes, seat, role }: Actor, { scope, needs }: Pick<Operation, 'scope' | 'needs'>): void {
  if (scope !== undefined) checkCaller({ scopes, seat, permissions: permissionsOf(role) }, { scope, needs });
}
