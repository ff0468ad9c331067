import { isBlank } from '@tocsin/schemas';
import { checkText, DomainError } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Clock, Keyring, Logger } from '@tocsin/runtime';
import { type OidcChecks, type OidcClaims, type OidcClient, ProviderError } from './clients/oidc-client.ts';
import { isEmail, MAX_NAME_LENGTH } from '../accounts/domain/checks.ts';
import { givenByGroups } from './domain/group-mapping.ts';
import { RefusedSignIn } from './domain/sign-in-refusal.ts';
import { type OidcAccount, oidcIdentityStore } from '../accounts/store/oidc-identity-store.ts';
import { type OidcProvider, oidcProviderStore } from './store/oidc-provider-store.ts';
import { type User, userStore } from '../accounts/store/user-store.ts';
import { type Workspace, workspaceStore } from '../accounts/store/workspace-store.ts';
import type { CommandContext } from '../accounts/actor.ts';
import { createUser } from '../accounts/users.ts';
import { insertLink } from './login-links.ts';
import { openSecret } from './oidc-secrets.ts';
import { countedGroups, giveRoleAndSeat } from './roles-of-groups.ts';
import { recordOidcIdentity } from '../accounts/record-change.ts';
import { type SigningIn, startSession } from './start-session.ts';

export interface OidcSignIn {
  /** What the address of a workspace says to everybody: its name, and the host of its provider. */
  describe(slug: string): Promise<{ workspace: string | null; provider: string | null }>;
  /** @returns where to send the browser. @throws RefusedSignIn */
  begin(slug: string, redirectUri: string): Promise<{ workspaceId: number; url: string; checks: OidcChecks }>;
  /**
   * Begins a session of the user whose verified email address the provider confirms, and who signed in by the same account
   * before, if they did (contract: Sessions).
   * @param input `checks` are those that `begin` returned to this browser, and `signedIn` the user of its session
   * @returns the token of the session or, while another user is signed in, that of a link which begins it
   * @throws RefusedSignIn
   */
  finish(
    input: SigningIn & { slug: string; callback: URL; checks: OidcChecks; signedIn: number | undefined },
  ): Promise<{ token: string; link?: never } | { link: string }>;
  /** @throws RefusedSignIn for a workspace without a provider */
  workspaceIdOf(slug: string): Promise<number>;
}

/** The workspace, unless it is suspended, and its provider. */
async function find(db: Knex, slug: string): Promise<{ workspace?: Workspace; provider?: OidcProvider | undefined }> {
  const workspace = await workspaceStore(db).findBySlug(slug);
  if (workspace?.suspendedAt !== null) return {};
  return { workspace, provider: await oidcProviderStore(db).find(workspace.id) };
}

export function oidcSignIn(options: {
  database: Knex;
  keyring: Keyring;
  client: OidcClient;
  clock: Clock;
  log: Logger;
}): OidcSignIn {
  const { database, keyring, client, clock, log } = options;
  const get = async (slug: string): Promise<OidcProvider> => {
    const { provider } = await find(database, slug);
    if (provider === undefined) throw new RefusedSignIn('provider_unavailable');
    return provider;
  };
  const registrationOf = (provider: OidcProvider) => {
    const { workspaceId, issuer, clientId, trustsEmail, groups, updatedAt: version } = provider;
    const clientSecret = openSecret(keyring, provider);
    if (clientSecret === undefined) throw new ProviderError('unavailable', 'no key decrypts its client secret');
    return { workspaceId, issuer, clientId, clientSecret, trustsEmail, groups, version };
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
    describe: async (slug) => {
      const { workspace, provider } = await find(database, slug);
      return { workspace: workspace?.name ?? null, provider: provider ? new URL(provider.issuer).host : null };
    },
    workspaceIdOf: async (slug) => (await get(slug)).workspaceId,

    begin: async (slug, redirectUri) => {
      const provider = await get(slug);
      const begun = await asked(provider, async () => client.begin(registrationOf(provider), redirectUri));
      return { ...begun, workspaceId: provider.workspaceId };
    },

    finish: async ({ slug, callback, checks, signedIn: present, ...signingIn }) => {
      const provider = await get(slug);
      const claims = await asked(provider, async () => client.finish(registrationOf(provider), callback, checks));
      const now = clock.now();
      const signedIn = database.transaction(async (trx) => {
        const workspace = await workspaceStore(trx).lock(provider.workspaceId);
        const { issuer, subject } = checkAccount(claims);
        // An operator decided what happens, when they connected the provider.
        const byProvider: CommandContext = {
          ...{ actor: { type: 'operator' }, requestId: signingIn.requestId, now },
          oidc: { issuer, subject },
        };
        const { user, isKnown } = await findOrCreate(trx, { provider, claims, context: byProvider });
        const groups = await countedGroups(trx, { workspaceId: workspace.id, userId: user.id, claimed: claims.groups });
        await giveRoleAndSeat(trx, { user, given: givenByGroups(provider.groups, groups) }, byProvider);
        const identity = { userId: user.id, issuer, subject };
        if (present !== undefined && present !== user.id) {
          if (!isKnown) await storeIdentity(trx, { workspace, identity, context: byProvider });
          return { link: (await insertLink(trx, user, now)).token };
        }
        const { token, context } = await startSession(trx, { ...signingIn, workspace, userId: user.id }, now);
        if (!isKnown) await storeIdentity(trx, { workspace, identity, context });
        return { token };
      });
      return signedIn.catch((error: unknown) => {
        if (error instanceof RefusedSignIn)
          log.warn({ workspace: provider.workspaceId, reason: error.reason }, 'a sign-in by OIDC was refused');
        throw error;
      });
    },
  };
}

/** Characters; a subject has at most 255 (OpenID Connect Core, section 2). */
const MAX_LENGTHS = { issuer: 512, subject: 255 };

/** @throws RefusedSignIn for an account that cannot be stored exactly */
function checkAccount({ issuer, subject, email }: OidcClaims): OidcAccount {
  try {
    for (const text of [issuer, subject, email ?? '']) checkText(text, 'claim');
  } catch {
    throw new RefusedSignIn('unusable_account');
  }
  if (email !== undefined && !isEmail(email)) throw new RefusedSignIn('unusable_account');
  if (issuer.length > MAX_LENGTHS.issuer || subject.length > MAX_LENGTHS.subject)
    throw new RefusedSignIn('unusable_account');
  return { issuer, subject };
}

async function findOrCreate(
  trx: Knex.Transaction,
  options: { provider: OidcProvider; claims: OidcClaims; context: CommandContext },
): Promise<{ user: User; isKnown: boolean }> {
  const { provider, claims, context } = options;
  const { email, isVerified, issuer, subject } = claims;
  if (email === undefined || !isVerified) throw new RefusedSignIn('unverified_email');
  const { workspaceId, createsViewers, groups } = provider;
  const user = await userStore(trx).findByEmail(workspaceId, email);
  // Postgres also folds letters that only look like those of the user, such as the Kelvin sign.
  if (user !== undefined && foldAscii(user.email) !== foldAscii(email)) throw new RefusedSignIn('unknown_user');
  if (user?.active === false) throw new RefusedSignIn('deactivated_user');
  const identities = await oidcIdentityStore(trx).find(workspaceId, { userId: user?.id, issuer, subject });
  const isSame = identities.every(
    (identity) => identity.userId === user?.id && identity.issuer === issuer && identity.subject === subject,
  );
  if (!isSame) throw new RefusedSignIn('other_account');
  if (user !== undefined) return { user, isKnown: identities.length > 0 };
  if (!createsViewers) throw new RefusedSignIn('unknown_user');
  const name = nameOf(claims) ?? email;
  const counted = await countedGroups(trx, { workspaceId, userId: undefined, claimed: claims.groups });
  const { role = 'viewer', seat = 'none' } = givenByGroups(groups, counted);
  try {
    const created = await createUser(trx, { workspaceId, email, name, role, seat }, context);
    return { user: created, isKnown: false };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new RefusedSignIn(error.code === 'invalid_resource_state' ? 'user_quota' : 'unusable_account');
  }
}

async function storeIdentity(
  trx: Knex.Transaction,
  options: { workspace: Workspace; identity: OidcAccount & { userId: number }; context: CommandContext },
): Promise<void> {
  const { workspace, identity, context } = options;
  await oidcIdentityStore(trx).insert({ ...identity, workspaceId: workspace.id }, context.now);
  await recordOidcIdentity(trx, context, { workspace, verb: 'created', identity });
}

const foldAscii = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The name that the provider has, if it may be the name of a user. */
function nameOf({ name }: OidcClaims): string | undefined {
  const trimmed = name?.trim() ?? '';
  const isUsable = !isBlank(trimmed) && [...trimmed].length <= MAX_NAME_LENGTH && !/[\p{Cc}\p{Cs}]/u.test(trimmed);
  return isUsable ? trimmed : undefined;
}
