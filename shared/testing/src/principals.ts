import { type Principal, PERMISSIONS, SCOPES, type WorkspaceContext } from '@tocsin/schemas';
import { PRINCIPAL_HEADER, principalPurpose, signPrincipal } from '@tocsin/http';
import { generateSecretKeys, type Keyring, openKeyring } from '@tocsin/runtime';

/** The secret keys of all services in one test process. */
export const TEST_SECRET_KEYS = generateSecretKeys();

const keyrings = new Map<string, Keyring>();

/** Cached, because property tests sign thousands of times. */
function keyringOf(issuer: string, audience: string): Keyring {
  const purpose = principalPurpose(issuer, audience);
  const keyring = keyrings.get(purpose) ?? openKeyring(TEST_SECRET_KEYS, purpose);
  keyrings.set(purpose, keyring);
  return keyring;
}

export interface TestUser {
  workspace?: Partial<WorkspaceContext>;
  user_id?: number;
  key_id?: number;
  first_key_id?: number;
  /** Default: none, as a gateway of an earlier release sends it. */
  key?: Principal['key'];
  /** Default: every scope. */
  scopes?: readonly string[];
  /** Default: `responder`. */
  seat?: Principal['seat'];
  /** Default: every permission. */
  permissions?: readonly string[];
}

export function testPrincipal(user: TestUser = {}): Principal {
  return {
    kind: 'user',
    workspace: {
      id: 1,
      slug: 'acme',
      version: 0,
      is_demo: false,
      history_days: null,
      reporting_currency: 'USD',
      short_title_required: false,
      ...user.workspace,
    },
    user_id: user.user_id ?? 42,
    key_id: user.key_id ?? 7,
    ...(user.first_key_id !== undefined && { first_key_id: user.first_key_id }),
    ...(user.key !== undefined && { key: user.key }),
    scopes: [...(user.scopes ?? SCOPES)],
    seat: user.seat ?? 'responder',
    permissions: [...(user.permissions ?? PERMISSIONS)],
  };
}

/**
 * The header with which the gateway sends a user's request to a service. It is signed each time it is read, because a
 * signature is valid for 30 seconds and a client of a long test lives longer.
 */
export const asUser = (audience: string, user: TestUser = {}) => ({
  get [PRINCIPAL_HEADER]() {
    return signPrincipal(keyringOf('gateway', audience), testPrincipal(user));
  },
});

/** The header with which a service calls another one. */
export const asService = (name: string, audience: string) => ({
  get [PRINCIPAL_HEADER]() {
    return signPrincipal(keyringOf(name, audience), { kind: 'service' });
  },
});
