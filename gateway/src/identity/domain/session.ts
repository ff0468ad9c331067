import { addMilliseconds, type Instant, ownProperty } from '@tocsin/runtime';

// A session of a browser is a key with all scopes that only a cookie carries (ADR 59).

const HOUR = 3_600_000;

/** Milliseconds. */
export const SESSION_LIFETIME = 7 * 24 * HOUR;
const SESSION_IDLE_TIME = 12 * HOUR;
export const LOGIN_LINK_LIFETIME = 600_000;
/** Of a key that somebody without `manage_settings` makes in a session. */
export const MAX_KEY_LIFETIME_OF_SESSION = 90 * 24 * HOUR;
/** How long a session that has ended stays as a record, as entries of the audit log do. */
export const SESSION_RECORD_TIME = 400 * 24 * HOUR;

/** Of those of a user that people began, and of those that one key began. A sign-in beyond it ends the oldest of them. */
export const MAX_SESSIONS_OF_ORIGIN = 20;

/** Sessions that were used last before this time have ended. */
export const idleSince = (now: Instant): Instant => addMilliseconds(now, -SESSION_IDLE_TIME);

const BROWSERS = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'];
const SYSTEMS = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS', 'Linux'];
const SHOWN = { Edg: 'Edge', OPR: 'Opera', 'Mac OS': 'macOS' };

/** A name for people, such as `Firefox on Linux`. */
export function browserName(userAgent: string): string {
  const nameIn = (names: readonly string[], end: string) => {
    const name = names.find((each) => userAgent.includes(each + end));
    return name === undefined ? undefined : (ownProperty(SHOWN, name) ?? name);
  };
  const system = nameIn(SYSTEMS, '');
  return `${nameIn(BROWSERS, '/') ?? 'Browser'}${system === undefined ? '' : ` on ${system}`}`;
}

/**
 * A cookie that scripts cannot read. Browsers take the prefix `__Host-` only over HTTPS.
 * @param options `lifetime` in milliseconds
 */
export const browserCookie = (options: { name: string; lifetime: number; isSecure: boolean }) => {
  const { lifetime, isSecure } = options;
  const name = `${isSecure ? '__Host-' : ''}${options.name}`;
  const header = (value: string, seconds: number) =>
    `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    /** The value in a Cookie header. */
    read: (header: string | undefined): string | undefined =>
      header
        ?.split(';')
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(`${name}=`))
        ?.slice(name.length + 1),
    /** A Set-Cookie header. */
    set: (value: string): string => header(value, lifetime / 1_000),
    /** The same that removes the cookie. */
    clear: (): string => header('', 0),
  };
};

/** The cookie with the token of a session. */
export const sessionCookie = (isSecure: boolean) =>
  browserCookie({ name: 'tocsin', lifetime: SESSION_LIFETIME, isSecure });

export type SessionCookie = ReturnType<typeof sessionCookie>;
