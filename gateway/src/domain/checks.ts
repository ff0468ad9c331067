import { checkText, invalid, SCOPES, type Scope } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { z } from 'zod';
import { isSlug } from './host.ts';

/** Of names, in code points. */
const LONGEST_NAME = 255;
const LONGEST_EMAIL = 254;
const MOST_REQUESTS = 2_147_483_647;

/** @throws DomainError `invalid_request`, like every check here, with a message for whoever administers */
export function checkSlug(slug: string): void {
  if (isSlug(slug)) return;
  throw invalid('slug', 'A slug is 1 to 63 lower-case letters, digits and hyphens, with no hyphen at either end');
}

/** The name without the white space around it. */
export function checkName(name: string): string {
  checkText(name, 'name');
  const trimmed = name.trim();
  if (trimmed === '' || [...trimmed].length > LONGEST_NAME) {
    throw invalid('name', `A name has 1 to ${LONGEST_NAME} characters`);
  }
  return trimmed;
}

export function checkEmail(email: string): void {
  checkText(email, 'email');
  if (/^[^\s@]+@[^\s@]+$/.test(email) && email.length <= LONGEST_EMAIL) return;
  throw invalid('email', `${JSON.stringify(email)} is no email address`);
}

export function checkHistoryDays(days: number | null): void {
  if (days === null || (Number.isFinite(days) && days > 0)) return;
  throw invalid('history_days', 'The history limit is a number of days above 0, or none');
}

export function checkCurrency(currency: string): void {
  if (!/^[A-Z]{3}$/.test(currency)) throw invalid('reporting_currency', 'A currency is three capital letters, as USD');
}

export function checkRateLimit(limit: number | null): void {
  if (limit === null || (Number.isInteger(limit) && limit >= 1 && limit <= MOST_REQUESTS)) return;
  throw invalid('rate_limit', 'The rate limit is a whole number of requests a minute above 0, or none');
}

/** The scopes in the order of the API's own list, each once. */
export function checkScopes(scopes: readonly string[]): Scope[] {
  const unknown = scopes.find((scope) => !SCOPES.some((known) => known === scope));
  if (unknown !== undefined) throw invalid('scopes', `There is no scope ${unknown}; there are ${SCOPES.join(', ')}`);
  if (scopes.length === 0) throw invalid('scopes', 'A key has at least one scope');
  return SCOPES.filter((scope) => scopes.includes(scope));
}

const rfc3339 = z.iso.datetime({ offset: true });

/** Any RFC 3339 time after now, as an instant. */
export function checkExpiry(expires: string, now: Instant): Instant {
  if (!rfc3339.safeParse(expires).success) {
    throw invalid('expires_at', 'The expiry is an RFC 3339 time, as 2030-01-31T12:00:00Z');
  }
  const instant = new Date(expires).toISOString();
  if (instant <= now) throw invalid('expires_at', 'The expiry is in the past');
  return instant;
}
