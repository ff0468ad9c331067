import { type Change, changeByOperator, recordChange } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { ApiKey } from './store/key-store.ts';
import type { OidcIdentity } from './store/oidc-identity-store.ts';
import type { User } from './store/user-store.ts';
import type { Workspace } from './store/workspace-store.ts';
import type { CommandContext } from './actor.ts';
import { eventWorkspace } from './announce.ts';

interface Recorded<Entity> {
  workspace: Workspace;
  verb: string;
  before: Entity | null;
  after: Entity;
}

/** Records a change of a user in the audit log. */
export const recordUserChange = async (
  trx: Knex.Transaction,
  context: CommandContext,
  change: Recorded<User>,
): Promise<void> =>
  record(trx, {
    ...{ ...change, context, kind: 'user', stateOf: stateOfUser },
    ...(context.oidc !== undefined && { cause: { oidc: context.oidc } }),
  });

/** Records in the audit log that a user signed in by an account for the first time, or that an operator forgot it. */
export const recordOidcIdentity = async (
  trx: Knex.Transaction,
  context: CommandContext,
  change: { workspace: Workspace; verb: 'created' | 'deleted'; identity: OidcIdentity },
): Promise<void> => {
  const { userId, issuer, subject } = change.identity;
  const state = { user_id: userId, issuer, subject };
  await recordChange(trx, changeOf(change.workspace, context), {
    action: `oidc_identity.${change.verb}`,
    target: { type: 'user', id: String(userId) },
    before: change.verb === 'deleted' ? state : null,
    after: change.verb === 'created' ? state : null,
    now: context.now,
  });
};

/** Records in the audit log that a user made a link that signs another one in. */
export const recordLoginLink = async (
  trx: Knex.Transaction,
  context: CommandContext,
  { workspace, user, expiresAt }: { workspace: Workspace; user: User; expiresAt: Instant },
): Promise<void> =>
  recordChange(trx, changeOf(workspace, context), {
    action: 'login_link.created',
    target: { type: 'user', id: String(user.id) },
    before: null,
    after: { user_id: user.id, expires_at: expiresAt },
    now: context.now,
  });

/** Records a change of an API key, a session or an agent in the audit log. */
export const recordKeyChange = async (
  trx: Knex.Transaction,
  context: CommandContext,
  change: Recorded<ApiKey>,
): Promise<void> =>
  record(
    trx,
    change.after.kind === 'key'
      ? { ...change, context, kind: 'api_key', stateOf: stateOfKey }
      : { ...change, context, kind: change.after.kind, stateOf: stateOfSession },
  );

/** Records that sessions or agents were revoked. */
export async function recordEndedSessions(
  trx: Knex.Transaction,
  context: CommandContext,
  workspace: Workspace,
  ended: readonly ApiKey[],
): Promise<void> {
  for (const after of ended)
    await recordKeyChange(trx, context, { workspace, verb: 'revoked', before: { ...after, revokedAt: null }, after });
}

const record = async <Entity extends { id: number }>(
  trx: Knex.Transaction,
  change: Recorded<Entity> & {
    context: CommandContext;
    kind: string;
    stateOf: (entity: Entity) => object;
    /** Added to the state after the change. */
    cause?: object;
  },
): Promise<void> => {
  const { context, kind, stateOf, workspace, verb, before, after, cause } = change;
  await recordChange(trx, changeOf(workspace, context), {
    action: `${kind}.${verb}`,
    target: { type: kind, id: String(after.id) },
    before: before && { ...stateOf(before) },
    after: { ...stateOf(after), ...cause },
    now: context.now,
  });
};

/** Records what an operator did to the settings of a workspace in the audit log. */
export const recordWorkspaceChange = async (
  trx: Knex.Transaction,
  { verb, before, after, now }: Omit<Recorded<Workspace>, 'workspace'> & { now: Instant },
): Promise<void> =>
  recordChange(trx, changeByOperator(eventWorkspace(after)), {
    action: `workspace.${verb}`,
    target: { type: 'workspace', id: String(after.id) },
    before: before && stateOfWorkspace(before),
    after: stateOfWorkspace(after),
    now,
  });

export const changeOf = (workspace: Workspace, { actor, requestId }: CommandContext): Change => ({
  workspace: eventWorkspace(workspace),
  actor:
    actor.type === 'user'
      ? { type: 'user', user_id: actor.userId, key_id: actor.keyId }
      : { type: 'operator', user_id: null, key_id: null },
  requestId,
});

const stateOfWorkspace = (workspace: Workspace) => ({
  name: workspace.name,
  demo: workspace.isDemo,
  history_days: workspace.historyDays,
  reporting_currency: workspace.reportingCurrency,
  short_title_required: workspace.shortTitleRequired,
  suspended_at: workspace.suspendedAt,
  rate_limit: workspace.rateLimit,
  quotas: workspace.quotas,
});

const stateOfUser = ({ email, name, role, seat, active }: User) => ({ email, name, role, seat, active });

const stateOfSession = ({ kind, name, userId, scopes, expiresAt, revokedAt }: ApiKey) => ({
  name,
  user_id: userId,
  ...(kind === 'agent' && { scopes }),
  expires_at: expiresAt,
  revoked_at: revokedAt,
});

const stateOfKey = ({ name, userId, shown, scopes, expiresAt, revokedAt }: ApiKey) => ({
  name,
  user_id: userId,
  prefix: shown,
  scopes,
  expires_at: expiresAt,
  revoked_at: revokedAt,
});
