import { callersOf, SERVICE_CALLS } from '@tocsin/schemas';
import { principalPurpose } from '@tocsin/http';
import { deriveSecretKeys } from '@tocsin/runtime';
import { APP_NAMES, type AppName, APPS } from './apps.ts';

/** The processes that have keys of their own: the apps, and administration. */
export const KEY_HOLDERS = [...APP_NAMES, 'admin'] as const;
export type KeyHolder = (typeof KEY_HOLDERS)[number];

/**
 * Derives the keys that one process needs from the root keys: leaf keys, in the form of `TOCSIN_SECRET_KEYS`.
 * @param secretKeys the root keys, in the same form
 * @throws ConfigError when they are malformed
 */
export function deriveServiceKeys(secretKeys: string, holder: KeyHolder): string {
  // Administration encrypts what the incident service and the gateway decrypt.
  const purposes =
    holder === 'admin'
      ? ['chat-token', 'tracker-address', 'oidc']
      : [...principalPurposes(holder), ...APPS[holder].ownKeys];
  return deriveSecretKeys(secretKeys, purposes);
}

/** The pairs of apps that this one is a part of, as the caller or as the called. */
function principalPurposes(app: AppName): string[] {
  // The gateway calls itself, too, for its own operations.
  const calls = app === 'gateway' ? APP_NAMES : (SERVICE_CALLS[app] ?? []);
  const callers = app === 'gateway' ? callersOf(app) : ['gateway', ...callersOf(app)];
  return [
    ...calls.map((other) => principalPurpose(app, other)),
    ...callers.map((other) => principalPurpose(other, app)),
  ];
}
