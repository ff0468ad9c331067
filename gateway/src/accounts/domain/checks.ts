import { isBlank, isEmailAddress, isLongerThan, parseTimestamp, QUOTAS, SCOPES, type Scope } from '@tocsin/schemas';
import { checkText, invalidRequest } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { isSlug } from '../../identity/domain/host.ts';

/** Code points. */
export const MAX_NAME_LENGTH = 255;
export const MAX_EMAIL_LENGTH = 254;
const MAX_RATE_LIMIT = 2_147_483_647;
/** Milliseconds. */
const MAX_OVERLAP = 30 * 24 * 3_600_000;
const MAX_QUOTA = 1_000_000_000;

/** @throws DomainError `invalid_request`, as all checks here; administrators see the message without the field */
export function checkSlug(slug: string): void {
  if (isSlug(slug)) return;
  throw invalidRequest(
    'slug',
    'A slug is 1 to 63 lower-case letters, digits and hyphens, without a hyphen at either end',
  );
}

/** Returns the name without leading and trailing white space. */
export function checkName(name: string): string {
  checkText(name, 'name');
  const trimmed = name.trim();
  if (isBlank(trimmed) || [...trimmed].length > MAX_NAME_LENGTH) {
    throw invalidRequest('name', `A name has 1 to ${MAX_NAME_LENGTH} characters, and shows something`);
  }
  return trimmed;
}

export const isEmail = (text: string): boolean => isEmailAddress(text) && !isLongerThan(text, MAX_EMAIL_LENGTH);

export function checkEmail(email: string): void {
  checkText(email, 'email');
  if (isEmail(email)) return;
  throw invalidRequest('email', `${JSON.stringify(email)} is not an email address`);
}

export function checkHistoryDays(days: number | null): void {
  if (days === null || (Number.isFinite(days) && days > 0)) return;
  throw invalidRequest('history_days', 'The history limit must be a number of days above 0, or none');
}

export function checkCurrency(currency: string): void {
  if (!/^[A-Z]{3}$/.test(currency))
    throw invalidRequest('reporting_currency', 'A currency is three capital letters, such as USD');
}

export function checkRateLimit(limit: number | null): void {
  if (limit === null || (Number.isInteger(limit) && limit >= 1 && limit <= MAX_RATE_LIMIT)) return;
  throw invalidRequest('rate_limit', 'The rate limit must be a whole number of requests a minute above 0, or none');
}

export function checkQuotas(quotas: Readonly<Record<string, number | null | 'default'>>): void {
  for (const [name, value] of Object.entries(quotas)) {
    if (!Object.hasOwn(QUOTAS, name)) {
      throw invalidRequest('quotas', `There is no quota ${name}; the quotas are ${Object.keys(QUOTAS).join(', ')}`);
    }
    if (value === null || value === 'default') continue;
    if (Number.isInteger(value) && value >= 0 && value <= MAX_QUOTA) continue;
    throw invalidRequest('quotas', `The quota ${name} must be a whole number up to ${MAX_QUOTA}, none or default`);
  }
}

/** Returns the scopes in the order of the API's list, without duplicates. */
export function checkScopes(scopes: readonly string[]): Scope[] {
  const unknown = scopes.find((scope) => !SCOPES.some((name) => name === scope));
  if (unknown !== undefined)
    throw invalidRequest('scopes', `There is no scope ${unknown}; the scopes are ${SCOPES.join(', ')}`);
  if (scopes.length === 0) throw invalidRequest('scopes', 'A key needs at least one scope');
  return SCOPES.filter((scope) => scopes.includes(scope));
}

/** @param overlap milliseconds */
export function checkOverlap(overlap: number): void {
  if (Number.isInteger(overlap) && overlap >= 0 && overlap <= MAX_OVERLAP) return;
  throw invalidRequest('overlap', 'The overlap must be at most 30 days');
}

/** Returns the instant of an RFC 3339 time, which must be after now. */
export function checkExpiry(expires: string, now: Instant): Instant {
  const instant = parseTimestamp(expires);
  if (instant === undefined) {
    throw invalidRequest('expires_at', 'The expiry must be an RFC 3339 time, such as 2030-01-31T12:00:00Z');
  }
  if (instant <= now) throw invalidRequest('expires_at', 'The expiry must be in the future');
  return instant;
}
