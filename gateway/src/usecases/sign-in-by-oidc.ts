import { DomainError } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Clock, Instant, Keyring, Logger } from '@tocsin/runtime';
import { type OidcChecks, type OidcClaims, type OidcClient, ProviderError } from '../clients/oidc-client.ts';
import { isEmail, MAX_NAME_LENGTH } from '../domain/checks.ts';
import { RefusedSignIn } from '../domain/sign-in-refusal.ts';
import { type OidcProvider, oidcProviderStore } from '../store/oidc-provider-store.ts';
import { type User, userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import { createUser } from './create-user.ts';
import { openSecret } from './oidc-secrets.ts';
import { type SigningIn, startSession } from './start-session.ts';

export interface OidcSignIn {
  hasProvider(slug: string): Promise<boolean>;
  /** @returns where to send the browser. @throws RefusedSignIn */
  begin(slug: string, redirectUri: string): Promise<{ workspaceId: number; url: string; checks: OidcChecks }>;
  /**
   * Begins a session of the user whose verified email address the provider confirms (contract: Sessions).
   * @param input `checks` are those that `begin` returned to this browser
   * @throws RefusedSignIn
   */
  finish(input: SigningIn & { slug: string; callback: URL; checks: OidcChecks }): Promise<{ token: string }>;
  /** @throws RefusedSignIn for a workspace without a provider */
  workspaceIdOf(slug: string): Promise<number>;
}

export function oidcSignIn(options: {
  database: Knex;
  keyring: Keyring;
  client: OidcClient;
  clock: Clock;
  log: Logger;
}): OidcSignIn {
  const { database, keyring, client, clock, log } = options;
  const find = async (slug: string): Promise<OidcProvider | undefined> => {
    const workspace = await workspaceStore(database).findBySlug(slug);
    return workspace && oidcProviderStore(database).find(workspace.id);
  };
  const get = async (slug: string): Promise<OidcProvider> => {
    const provider = await find(slug);
    if (provider === undefined) throw new RefusedSignIn('provider_unavailable');
    return provider;
  };
  const registrationOf = (provider: OidcProvider) => {
    const { workspaceId, issuer, clientId, updatedAt: version } = provider;
    const clientSecret = openSecret(keyring, provider);
    if (clientSecret === undefined) throw new ProviderError('unavailable', 'no key decrypts its client secret');
    return { workspaceId, issuer, clientId, clientSecret, version };
  };
  const asked = async <Result>({ workspaceId }: OidcProvider, ask: () => Promise<Result>): Promise<Result> => {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      log.warn({ workspace: workspaceId, reason: error.message }, 'a sign-in by OIDC failed at its provider');
      throw new RefusedSignIn(`provider_${error.reason}`);
    }
  };
  return {
    hasProvider: async (slug) => (await find(slug)) !== undefined,
    workspaceIdOf: async (slug) => (await get(slug)).workspaceId,

    begin: async (slug, redirectUri) => {
      const provider = await get(slug);
      const begun = await asked(provider, async () => client.begin(registrationOf(provider), redirectUri));
      return { ...begun, workspaceId: provider.workspaceId };
    },

    finish: async ({ slug, callback, checks, ...signingIn }) => {
      const provider = await get(slug);
      const claims = await asked(provider, async () => client.finish(registrationOf(provider), callback, checks));
      const now = clock.now();
      return database.transaction(async (trx) => {
        const workspace = await workspaceStore(trx).lock(provider.workspaceId);
        const user = await findOrCreate(trx, { provider, claims, requestId: signingIn.requestId, now });
        return startSession(trx, { ...signingIn, workspace, userId: user.id }, now);
      });
    },
  };
}

async function findOrCreate(
  trx: Knex.Transaction,
  options: { provider: OidcProvider; claims: OidcClaims; requestId: string; now: Instant },
): Promise<User> {
  const { provider, claims, requestId, now } = options;
  const { email, isVerified } = claims;
  if (email === undefined || !isEmail(email) || !isVerified) throw new RefusedSignIn('unverified_email');
  const { workspaceId, createsViewers } = provider;
  const user = await userStore(trx).findByEmail(workspaceId, email);
  // Postgres also folds letters that only look like those of the user, such as the Kelvin sign.
  if (user !== undefined && foldAscii(user.email) !== foldAscii(email)) throw new RefusedSignIn('unknown_user');
  if (user?.active === false) throw new RefusedSignIn('deactivated_user');
  if (user !== undefined) return user;
  if (!createsViewers) throw new RefusedSignIn('unknown_user');
  const name = nameOf(claims) ?? email;
  // An operator decided it, when they connected the provider.
  const context = { actor: { type: 'operator' }, requestId, now } as const;
  try {
    return await createUser(trx, { workspaceId, email, name, role: 'viewer', seat: 'none' }, context);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new RefusedSignIn(error.code === 'invalid_resource_state' ? 'user_quota' : 'unverified_email');
  }
}

const foldAscii = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The name that the provider has, if it may be the name of a user. */
function nameOf({ name }: OidcClaims): string | undefined {
  const trimmed = name?.trim() ?? '';
  const isUsable = trimmed !== '' && [...trimmed].length <= MAX_NAME_LENGTH && !/[\p{Cc}\p{Cs}]/u.test(trimmed);
  return isUsable ? trimmed : undefined;
}
