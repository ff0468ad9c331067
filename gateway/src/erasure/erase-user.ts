/**
 * `erasure` forgets a person (contract: Erasing a user). One transaction takes name, address, account at the provider,
 * sessions, links and keys from the user, publishes the user as `Former user 12`, and stores that the person is to be
 * erased everywhere. A task of any gateway (`erase-step.ts`) then goes through the schemas, one app after the
 * other, in steps that may be repeated: it stores after each how far it has come, so a crash costs one step. It begins
 * with the incident service, which says `user.erased` on the broker when it is done: the webhook service begins when it
 * has recorded all events before that. The names are in the row of the erasure until the last app is done. The data of
 * a person are read by the same walk (`personal-data.ts`).
 */
import { DomainError, invalidRequest } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { erasedName } from '@tocsin/service-host';
import { type CommandContext, findActingUser } from '../accounts/actor.ts';
import { announceUser } from '../accounts/announce.ts';
import { existing } from '../accounts/lookups.ts';
import { recordUserChange } from '../accounts/record-change.ts';
import { type Erasure, erasureStore, formerNames } from '../accounts/store/erasure-store.ts';
import { sessionStore } from '../accounts/store/key-store.ts';
import { loginLinkStore } from '../accounts/store/login-link-store.ts';
import { scimUserStore } from '../accounts/store/scim-user-store.ts';
import { savedViewStore } from '../accounts/store/saved-view-store.ts';
import { oidcIdentityStore } from '../accounts/store/oidc-identity-store.ts';
import { type User, userStore } from '../accounts/store/user-store.ts';
import { workspaceStore, workspaceVersions } from '../accounts/store/workspace-store.ts';
import { checkEmailIsFree, checkOwnerRemains } from '../accounts/users.ts';
import { auditStore } from '../audit/store/audit-store.ts';
import { permissionsOf } from '../identity/domain/roles.ts';

/** The apps in the order in which they erase a person. */
const APPS = ['incident', 'catalog', 'custom-field', 'webhook', 'gateway'] as const;

export interface ErasureRequest {
  workspaceId: number;
  id: number;
  /** The address of the user. */
  confirmation: string;
}

/**
 * Begins to forget a user; safe to repeat (contract: Erasing a user).
 * @throws DomainError `not_found`, `missing_role_permission`, `invalid_request` for another address, and
 *   `invalid_resource_state` for the last active owner
 */
export async function eraseUser(
  trx: Knex.Transaction,
  { workspaceId, id, confirmation }: ErasureRequest,
  context: CommandContext,
): Promise<Erasure> {
  const { actor, now } = context;
  await workspaceStore(trx).lock(workspaceId);
  const current = await existing(userStore(trx).find(workspaceId, id), 'The user');
  const acting = await findActingUser(trx, { workspaceId, actor });
  if (acting !== undefined && !permissionsOf(acting.role).includes('delete_permanently')) {
    throw new DomainError('missing_role_permission', "The role of the token's owner lacks delete_permanently", {
      details: { required_permission: 'delete_permanently' },
    });
  }
  const before = await erasureStore(trx).find(workspaceId, id);
  if (before !== undefined) return before;
  if (confirmation.toLowerCase() !== current.email.toLowerCase())
    throw invalidRequest('confirmation', 'Must be the email address of the user');
  await checkOwnerRemains(trx, current, { active: false });
  const email = `former-user-${id}@erased.invalid`;
  await checkEmailIsFree(trx, { workspaceId, email, userId: id });

  const workspace = await workspaceVersions(trx).raise(workspaceId);
  const erasure = await erasureStore(trx).insert({
    ...{ workspaceId, userId: id, requestedAt: now, version: workspace.version, remaining: APPS },
    ...(await namesOf(trx, current)),
  });
  const properties = { email, name: erasedName(id), active: false, seat: 'none', role: 'viewer' } as const;
  const change = { ...properties, lastSeenAt: null };
  const user = await userStore(trx).change(current, change, { version: workspace.version, now });
  await loginLinkStore(trx).deleteOf(workspaceId, id);
  await savedViewStore(trx).deleteOf(workspaceId, id);
  await oidcIdentityStore(trx).remove(workspaceId, id);
  await scimUserStore(trx).forget(current);
  await sessionStore(trx).endAll({ workspaceId, userId: id }, now);
  await auditStore(trx).eraseUser(workspaceId, id);
  await recordUserChange(trx, context, { workspace, verb: 'erased', before: null, after: user });
  await announceUser(trx, { workspace, user, now });
  return erasure;
}

/** What a user is called, and was, as far as the audit log knows. */
export async function namesOf(
  db: Knex,
  { workspaceId, id, name, email }: User,
): Promise<Pick<Erasure, 'names' | 'emails'>> {
  const former = await formerNames(db).list(workspaceId, id);
  const unique = (texts: (string | null)[]) => [...new Set(texts.filter((text) => text !== null && text !== ''))];
  return {
    names: unique([name, ...former.map((each) => each.name)]) as string[],
    emails: unique([email, ...former.map((each) => each.email)].map((text) => text?.toLowerCase() ?? null)) as string[],
  };
}
