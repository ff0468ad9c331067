import { DomainError } from '../errors/errors.ts';
import { PERMISSIONS, type Principal } from '@tocsin/schemas';
import type { Contract } from '../contracts/contract.ts';

/**
 * Checks the key's scope, then the owner's seat, then the owner's permissions (contract: Authentication). The gateway
 * checks them before it forwards a request. The service checks them again, so that it does not depend on the gateway.
 * @throws DomainError `missing_scope`, `responder_seat_required` or `missing_role_permission`
 */
export function checkAccess(
  caller: { scopes: readonly string[]; seat: Principal['seat']; permissions: readonly string[] },
  { scope, needs = [] }: Pick<Contract, 'scope' | 'needs'>,
): void {
  checkScope(caller.scopes, scope);
  if (needs.includes('active_responder') && caller.seat !== 'responder') {
    throw new DomainError('responder_seat_required', "The token's owner has no responder seat", {
      details: { required_seat: 'responder' },
    });
  }
  for (const permission of PERMISSIONS) {
    if (!needs.includes(permission) || caller.permissions.includes(permission)) continue;
    throw new DomainError('missing_role_permission', `The role of the token's owner lacks ${permission}`, {
      details: { required_permission: permission },
    });
  }
}

function checkScope(scopes: readonly string[], required: Contract['scope']): void {
  if (typeof required === 'string') {
    if (scopes.includes(required)) return;
    throw new DomainError('missing_scope', `The token lacks the scope ${required}`, {
      details: { required_scope: required },
    });
  }
  if (required.some((scope) => scopes.includes(scope))) return;
  throw new DomainError('missing_scope', `The token has none of the scopes ${required.join(', ')}`, {
    details: { required_scopes: required },
  });
}
