import { DomainError } from '@tocsin/http';
import { isAbove, permissionsOf, type Role } from './roles.ts';

/** Who acts; undefined: an operator, who may do everything. */
type Acting = { readonly role: Role } | undefined;

export const manages = (acting: Acting): boolean =>
  acting === undefined || permissionsOf(acting.role).includes('manage_settings');

/** @throws DomainError `missing_role_permission` */
export function checkManages(acting: Acting): void {
  if (manages(acting)) return;
  throw new DomainError('missing_role_permission', "The role of the token's owner lacks manage_settings", {
    details: { required_permission: 'manage_settings' },
  });
}

/**
 * Nobody gives or changes more than they have (contract: Users).
 * @throws DomainError `permission_denied` for a role above that of the acting user
 */
export function checkReaches(acting: Acting, role: Role, field?: string): void {
  if (acting === undefined || !isAbove(role, acting.role)) return;
  throw new DomainError('permission_denied', `The role ${role} is above ${acting.role}, that of the token's owner`, {
    ...(field !== undefined && { field }),
    details: { role, own_role: acting.role },
  });
}

/** @throws DomainError `missing_scope` for the first scope that the acting key lacks */
export function checkScopesWithin(own: readonly string[], scopes: readonly string[], field?: string): void {
  const missing = scopes.find((scope) => !own.includes(scope));
  if (missing === undefined) return;
  throw new DomainError('missing_scope', `The token lacks the scope ${missing}`, {
    ...(field !== undefined && { field }),
    details: { required_scope: missing },
  });
}
