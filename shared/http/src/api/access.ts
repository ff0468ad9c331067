import { DomainError } from '../errors/errors.ts';
import { PERMISSIONS, type Principal, VIEW_RESTRICTED } from '@tocsin/schemas';
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

/** Who asks, as far as restricted incidents are concerned. */
export type RestrictedCaller = Pick<Principal, 'scopes' | 'seat' | 'permissions'>;

/** Whether a caller may know of restricted incidents that are not its own. */
export const seesRestricted = ({ scopes, permissions }: Pick<RestrictedCaller, 'scopes' | 'permissions'>): boolean =>
  scopes.includes(VIEW_RESTRICTED.scope) && permissions.includes(VIEW_RESTRICTED.permission);

/** @throws DomainError `missing_scope` or `missing_role_permission` if the caller may not know of them */
export const checkSeesRestricted = (caller: RestrictedCaller): void =>
  checkAccess(caller, { scope: VIEW_RESTRICTED.scope, needs: [VIEW_RESTRICTED.permission] });
