import { type Scope, SCOPES } from '@tocsin/schemas';
import { DomainError } from '@tocsin/http';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { isAbove, permissionsOf, type Role } from './roles.ts';
import { MAX_KEY_LIFETIME_OF_SESSION } from './session.ts';

/** Who acts; undefined: an operator, who may do everything. */
type Acting = { readonly id: number; readonly role: Role } | undefined;

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

/**
 * A token that acts as somebody else needs `manage_settings`, and reaches nobody above (contract: API keys).
 * @throws DomainError `missing_role_permission`, `permission_denied`
 */
export function checkActsFor(acting: Acting, owner: { readonly id: number; readonly role: Role }): void {
  if (acting?.id !== owner.id) checkManages(acting);
  checkReaches(acting, owner.role);
}

/** @throws DomainError `missing_scope` for the first scope that the acting key lacks */
export function checkScopesWithin(actingScopes: readonly string[], scopes: readonly string[], field?: string): void {
  const missing = scopes.find((scope) => !actingScopes.includes(scope));
  if (missing === undefined) return;
  throw new DomainError('missing_scope', `The token lacks the scope ${missing}`, {
    ...(field !== undefined && { field }),
    details: { required_scope: missing },
  });
}

/** What a token allows, and until when; null: for ever. */
export interface Grant<Name extends string = Scope> {
  readonly scopes: readonly Name[];
  readonly expiresAt: Instant | null;
}

/** What an operator passes on, and what a link is worth: a person signs in with it as by their provider. */
export const EVERYTHING: Grant = { scopes: SCOPES, expiresAt: null };

/** A stored key, a session, or an agent. */
interface Credential extends Grant {
  readonly kind: 'key' | 'session' | 'agent';
  readonly revokedAt: Instant | null;
}

/**
 * The most that a credential may pass on now: to a key that it makes, replaces or shows again, to a link, and to a session
 * (ADR 73). Undefined: it has ended. A session is no bound by its own end, since people make keys for programs with it;
 * one that the token of a key began passes on no more than that key.
 * @param options `acting` is its owner, `beginner` the key that began a session
 */
export function grantOf(
  { kind, scopes, expiresAt, revokedAt }: Credential,
  { acting, beginner, now }: { acting: Acting; beginner?: Credential | undefined; now: Instant },
): Grant | undefined {
  if (revokedAt !== null || (expiresAt !== null && expiresAt <= now)) return undefined;
  if (kind !== 'session') return { scopes, expiresAt };
  const bound = beginner === undefined ? EVERYTHING : grantOf(beginner, { acting, now });
  const latest = manages(acting) ? null : addMilliseconds(now, MAX_KEY_LIFETIME_OF_SESSION);
  return bound && { scopes, expiresAt: isWithin(latest, bound.expiresAt) ? latest : bound.expiresAt };
}

/** Whether a token with this expiry ends no later than the latest one that is allowed. */
export const isWithin = (expiresAt: Instant | null, latest: Instant | null): boolean =>
  latest === null || (expiresAt !== null && expiresAt <= latest);

/**
 * Nobody gets a token that allows more than their own, or for longer (contract: API keys).
 * @throws DomainError `missing_scope`, `permission_denied`
 */
export function checkWithin(most: Grant, { scopes, expiresAt }: Grant<string>): void {
  checkScopesWithin(most.scopes, scopes);
  if (isWithin(expiresAt, most.expiresAt)) return;
  throw new DomainError('permission_denied', `It would be valid for longer than your token allows: ${most.expiresAt}`, {
    details: { latest_expires_at: most.expiresAt },
  });
}
