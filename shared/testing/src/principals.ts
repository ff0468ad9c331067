import {
  type Principal,
  PRINCIPAL_HEADER,
  PRINCIPAL_PURPOSE,
  signPrincipal,
  type WorkspaceContext,
} from '@tocsin/http';
import { generateSecretKeys, openKeyring } from '@tocsin/runtime';

/** The secret keys of everything in one test process. */
export const TEST_SECRET_KEYS = generateSecretKeys();

const keyring = openKeyring(TEST_SECRET_KEYS, PRINCIPAL_PURPOSE);

export interface TestUser {
  workspace?: Partial<WorkspaceContext>;
  user_id?: number;
  key_id?: number;
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
  };
}

/** The header by which the gateway vouches for a user. */
export const asUser = (user: TestUser = {}) => ({ [PRINCIPAL_HEADER]: signPrincipal(keyring, testPrincipal(user)) });

/** The header by which one of our services vouches for itself. */
export const asService = (name = 'test') => ({ [PRINCIPAL_HEADER]: signPrincipal(keyring, { kind: 'service', name }) });
