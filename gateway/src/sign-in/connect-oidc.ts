import { checkText, invalidRequest } from '@tocsin/http';
import { changeByOperator, recordChange } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { GroupMapping } from './domain/group-mapping.ts';
import { ROLES } from '../identity/domain/roles.ts';
import { type OidcIdentity, oidcIdentityStore } from '../accounts/store/oidc-identity-store.ts';
import { type OidcProvider, oidcProviderStore } from './store/oidc-provider-store.ts';
import type { Workspace } from '../accounts/store/workspace-store.ts';
import { eventWorkspace } from '../accounts/announce.ts';
import type { CommandContext } from '../accounts/actor.ts';
import { getUser, getWorkspace } from '../accounts/lookups.ts';
import { oidcKeyring, sealSecret } from './oidc-secrets.ts';
import { recordOidcIdentity } from '../accounts/record-change.ts';

export interface OidcConnection {
  /** The workspace's slug. */
  workspace: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
  createsViewers: boolean;
  trustsEmail: boolean;
  groups: GroupMapping | null;
  secretKeys: string;
}

const MAX_LENGTH = 512;
/** The characters that a form and a header can carry without spaces. */
const PRINTABLE = new RegExp(`^[\\x21-\\x7e]{1,${MAX_LENGTH}}$`);

/**
 * Lets the people of a workspace sign in by a provider, instead of by the one before (contract: Sessions). The secret is
 * stored encrypted; nothing is checked with the provider.
 * @throws DomainError `not_found`; `invalid_request` naming `issuer`, `client_id`, `client_secret` or `groups`
 */
export async function connectOidc(trx: Knex.Transaction, input: OidcConnection, now: Instant): Promise<OidcProvider> {
  const { issuer, clientId, clientSecret, createsViewers, trustsEmail, groups, secretKeys } = input;
  checkIssuer(issuer);
  for (const [field, text] of Object.entries({ client_id: clientId, client_secret: clientSecret })) {
    if (!PRINTABLE.test(text))
      throw invalidRequest(field, `Must be 1 to ${MAX_LENGTH} printable ASCII characters without spaces`);
  }
  if (groups !== null) checkGroups(groups);
  const workspace = await getWorkspace(trx, input.workspace);
  const store = oidcProviderStore(trx);
  const before = await store.find(workspace.id);
  const provider: OidcProvider = {
    ...{ workspaceId: workspace.id, issuer, clientId, createsViewers, trustsEmail, groups, updatedAt: now },
    secret: sealSecret(oidcKeyring(secretKeys), workspace.id, clientSecret),
  };
  await store.put(provider);
  await record(trx, { workspace, verb: before === undefined ? 'created' : 'updated', before, after: provider, now });
  return provider;
}

/** Removes the provider of a workspace, if it has one. Sessions stay. @throws DomainError `not_found` */
export async function disconnectOidc(trx: Knex.Transaction, slug: string, now: Instant): Promise<void> {
  const workspace = await getWorkspace(trx, slug);
  const before = await oidcProviderStore(trx).find(workspace.id);
  if (before === undefined) return;
  await oidcProviderStore(trx).remove(workspace.id);
  await record(trx, { workspace, verb: 'deleted', before, after: undefined, now });
}

/**
 * Forgets by which accounts the users of a workspace, or one of them, signed in, so that the next sign-in of each is taken
 * as the first one.
 * @param input `email` of the user; undefined: all users
 * @throws DomainError `not_found`
 */
export async function forgetOidcIdentities(
  trx: Knex.Transaction,
  input: { workspace: string; email: string | undefined },
  now: Instant,
): Promise<OidcIdentity[]> {
  const workspace = await getWorkspace(trx, input.workspace);
  const user = input.email === undefined ? undefined : await getUser(trx, workspace, input.email);
  const identities = await oidcIdentityStore(trx).remove(workspace.id, user?.id);
  const context: CommandContext = { actor: { type: 'operator' }, requestId: null, now };
  for (const identity of identities) await recordOidcIdentity(trx, context, { workspace, verb: 'deleted', identity });
  return identities;
}

const MAX_GROUPS = 100;

function checkGroups({ claim, scope, roles, seats }: GroupMapping): void {
  const isName = (text: string) => PRINTABLE.test(text);
  if (!isName(claim) || (scope !== null && !isName(scope)))
    throw invalidRequest(
      'groups',
      `Must have a claim and a scope of 1 to ${MAX_LENGTH} ASCII characters without spaces`,
    );
  const lists = [roles?.map(({ group }) => group), seats].filter((list) => list !== undefined);
  if (lists.length === 0 || lists.some(({ length }) => length === 0 || length > MAX_GROUPS))
    throw invalidRequest(
      'groups',
      `Must have groups with roles, groups with a seat or both, 1 to ${MAX_GROUPS} of each`,
    );
  for (const group of lists.flat()) {
    checkText(group, 'groups');
    if (group === '' || group.length > MAX_LENGTH)
      throw invalidRequest('groups', `Must have names of groups with 1 to ${MAX_LENGTH} characters`);
  }
  if (roles?.some(({ role }) => !ROLES.includes(role)) === true)
    throw invalidRequest('groups', `Must have roles among ${ROLES.join(', ')}`);
}

/** Paths of Entra ID where anybody in the world signs in, whatever address they claim. */
const SHARED_TENANTS = /^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)(?:\/|$)/i;

function checkIssuer(text: string): void {
  const url = text.length <= MAX_LENGTH ? URL.parse(text) : null;
  const isPlain = url?.protocol === 'https:' && url.username === '' && url.password === '' && !/[?#\s\\]/.test(text);
  if (!isPlain)
    throw invalidRequest('issuer', `Must be an https URL of at most ${MAX_LENGTH} characters, without a query`);
  if (SHARED_TENANTS.test(text))
    throw invalidRequest('issuer', 'Must name one tenant: https://login.microsoftonline.com/<tenant ID>/v2.0');
}

const record = async (
  trx: Knex.Transaction,
  change: {
    workspace: Workspace;
    verb: string;
    before: OidcProvider | undefined;
    after: OidcProvider | undefined;
    now: Instant;
  },
): Promise<void> =>
  recordChange(trx, changeByOperator(eventWorkspace(change.workspace)), {
    action: `oidc_provider.${change.verb}`,
    target: { type: 'oidc_provider', id: String(change.workspace.id) },
    before: stateOf(change.before),
    after: stateOf(change.after),
    now: change.now,
  });

const stateOf = (provider: OidcProvider | undefined) =>
  provider === undefined
    ? null
    : {
        issuer: provider.issuer,
        client_id: provider.clientId,
        creates_viewers: provider.createsViewers,
        trusts_email: provider.trustsEmail,
        groups: provider.groups,
      };
