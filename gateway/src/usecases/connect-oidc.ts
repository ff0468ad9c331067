import { invalidRequest } from '@tocsin/http';
import { changeByOperator, recordChange } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type OidcProvider, oidcProviderStore } from '../store/oidc-provider-store.ts';
import type { Workspace } from '../store/workspace-store.ts';
import { eventWorkspace } from './announce.ts';
import { getWorkspace } from './lookups.ts';
import { oidcKeyring, sealSecret } from './oidc-secrets.ts';

export interface OidcConnection {
  /** The workspace's slug. */
  workspace: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
  createsViewers: boolean;
  secretKeys: string;
}

const MAX_LENGTH = 512;
/** The characters that a form and a header can carry without spaces. */
const PRINTABLE = new RegExp(`^[\\x21-\\x7e]{1,${MAX_LENGTH}}$`);

/**
 * Lets the people of a workspace sign in by a provider, instead of by the one before (contract: Sessions). The secret is
 * stored encrypted; nothing is checked with the provider.
 * @throws DomainError `not_found`; `invalid_request` naming `issuer`, `client_id` or `client_secret`
 */
export async function connectOidc(trx: Knex.Transaction, input: OidcConnection, now: Instant): Promise<OidcProvider> {
  const { issuer, clientId, clientSecret, createsViewers, secretKeys } = input;
  checkIssuer(issuer);
  for (const [field, text] of Object.entries({ client_id: clientId, client_secret: clientSecret })) {
    if (!PRINTABLE.test(text))
      throw invalidRequest(field, `Must be 1 to ${MAX_LENGTH} printable ASCII characters without spaces`);
  }
  const workspace = await getWorkspace(trx, input.workspace);
  const store = oidcProviderStore(trx);
  const before = await store.find(workspace.id);
  const provider: OidcProvider = {
    ...{ workspaceId: workspace.id, issuer, clientId, createsViewers, updatedAt: now },
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

function checkIssuer(text: string): void {
  const url = text.length <= MAX_LENGTH ? URL.parse(text) : null;
  const isPlain = url?.protocol === 'https:' && url.username === '' && url.password === '' && !/[?#\s\\]/.test(text);
  if (!isPlain)
    throw invalidRequest('issuer', `Must be an https URL of at most ${MAX_LENGTH} characters, without a query`);
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
    : { issuer: provider.issuer, client_id: provider.clientId, creates_viewers: provider.createsViewers };
