import { invalidRequest, invalidState } from '@tocsin/http';
import { recordChange } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import { type CommandContext, findManager } from '../accounts/actor.ts';
import { existing } from '../accounts/lookups.ts';
import { changeOf } from '../accounts/record-change.ts';
import type { Condition, MemberChange } from '../accounts/domain/directory.ts';
import { type Group, scimGroupStore, scimMemberStore } from '../accounts/store/scim-group-store.ts';
import { userLists } from '../accounts/store/user-store.ts';
import { type Workspace, workspaceStore } from '../accounts/store/workspace-store.ts';
import { isAbove } from '../identity/domain/roles.ts';
import { givenByGroups } from '../sign-in/domain/group-mapping.ts';
import { giveRoleAndSeat } from '../sign-in/roles-of-groups.ts';
import { oidcProviderStore } from '../sign-in/store/oidc-provider-store.ts';
import { checkNames } from './checks.ts';
import { MAX_MEMBERS } from './domain/patch.ts';

const MAX_GROUPS = 1_000;
/** The most that the deadline of a request allows. */
const MAX_CHANGED_USERS = 1_000;
/** In an entry of the audit log. */
const MAX_RECORDED = 100;

export interface GroupInput {
  workspaceId: number;
  /** Undefined: a new one. */
  id: number | undefined;
  /** Undefined: it stays, as the other properties. */
  displayName?: string | undefined;
  externalId?: string | null | undefined;
  members?: MemberChange | undefined;
}

/** @throws DomainError `not_found`, also for a group of another workspace */
export async function getGroup(db: Knex, workspaceId: number, id: number): Promise<Group> {
  const conditions: Condition[] = [{ name: 'id', value: id }];
  const { groups } = await scimGroupStore(db).list({ workspaceId, conditions, offset: 0, limit: 1 });
  return existing(Promise.resolve(groups[0]), 'The group');
}

/**
 * Creates or changes a group, and gives those whose groups change the role and the seat that follow.
 * @throws DomainError `not_found`, `invalid_request`, `permission_denied`, `invalid_resource_state`
 */
export async function writeGroup(trx: Knex.Transaction, input: GroupInput, context: CommandContext): Promise<Group> {
  const { workspaceId, members } = input;
  const store = scimGroupStore(trx);
  const workspace = await workspaceStore(trx).lock(workspaceId);
  const current = input.id === undefined ? undefined : await getGroup(trx, workspaceId, input.id);
  await findManager(trx, { workspaceId, actor: context.actor });
  const { displayName = current?.displayName ?? '', externalId = current?.externalId ?? null } = input;
  const find = async (conditions: Condition[]) =>
    (await store.list({ workspaceId, conditions, offset: 0, limit: 2 })).groups;
  await checkNames({ displayName, externalId }, { id: input.id, find });
  const names = { workspaceId, displayName, externalId };
  const isRenamed = current?.displayName !== displayName || current.externalId !== externalId;
  const id = current?.id ?? (await insertGroup(trx, names, context));
  if (current !== undefined && (isRenamed || members !== undefined)) await store.change({ ...names, id }, context.now);

  const changed = await scimMemberStore(trx).change({ workspaceId, id }, members ?? NO_CHANGE);
  if (changed.size > MAX_MEMBERS) throw invalidRequest('members', `A group has at most ${MAX_MEMBERS} members`);
  if (changed.users < (members ?? NO_CHANGE).added.size)
    throw invalidRequest('members', 'Must have users of the workspace');
  const affected =
    isRenamed && current !== undefined
      ? [...(await scimMemberStore(trx).list(workspaceId, [id])).map(({ userId }) => userId), ...changed.removed]
      : [...changed.added, ...changed.removed];
  const group = await getGroup(trx, workspaceId, id);
  if (isRenamed || affected.length > 0)
    await record(trx, { workspace, before: current, after: group, changed }, context);
  await giveRoles(trx, { workspaceId, userIds: affected }, context);
  return group;
}

const NO_CHANGE: MemberChange = { isWhole: false, added: new Set(), removed: new Set() };

async function insertGroup(
  trx: Knex.Transaction,
  names: Pick<Group, 'workspaceId' | 'displayName' | 'externalId'>,
  { now }: CommandContext,
): Promise<number> {
  const store = scimGroupStore(trx);
  const { total } = await store.list({ workspaceId: names.workspaceId, conditions: [], offset: 0, limit: 0 });
  if (total >= MAX_GROUPS) throw invalidState(`A workspace has at most ${MAX_GROUPS} groups`);
  return store.insert(names, now);
}

/** @throws DomainError `not_found`, `permission_denied` */
export async function deleteGroup(
  trx: Knex.Transaction,
  { workspaceId, id }: { workspaceId: number; id: number },
  context: CommandContext,
): Promise<void> {
  const workspace = await workspaceStore(trx).lock(workspaceId);
  const group = await getGroup(trx, workspaceId, id);
  await findManager(trx, { workspaceId, actor: context.actor });
  const removed = (await scimMemberStore(trx).list(workspaceId, [id])).map(({ userId }) => userId);
  await scimGroupStore(trx).remove(group);
  await record(trx, { workspace, before: group, after: undefined, changed: { added: [], removed } }, context);
  await giveRoles(trx, { workspaceId, userIds: removed }, context);
}

/** Gives users the role and the seat of their groups, by the mapping that sign-ins use, too. */
async function giveRoles(
  trx: Knex.Transaction,
  { workspaceId, userIds }: { workspaceId: number; userIds: readonly number[] },
  context: CommandContext,
): Promise<void> {
  const mapping = (await oidcProviderStore(trx).find(workspaceId))?.groups ?? null;
  if (mapping === null || userIds.length === 0) return;
  const users = await userLists(trx).listByIds(workspaceId, userIds);
  const names = await scimMemberStore(trx).namesOf(workspaceId, userIds);
  const changes = users
    .map((user) => ({ user, given: givenByGroups(mapping, names.get(user.id) ?? []) }))
    .filter(({ user, given: { role = user.role, seat = user.seat } }) => role !== user.role || seat !== user.seat);
  if (changes.length > MAX_CHANGED_USERS)
    throw invalidRequest('members', `At most ${MAX_CHANGED_USERS} users can get another role or seat by one request`);
  const loses = ({ user, given: { role = user.role } }: (typeof changes)[number]) => isAbove(user.role, role);
  // A new owner first: then the former one is no longer the last.
  for (const change of changes.toSorted((one, other) => Number(loses(one)) - Number(loses(other))))
    await giveRoleAndSeat(trx, change, context);
}

const record = async (
  trx: Knex.Transaction,
  {
    workspace,
    before,
    after,
    changed: { added, removed },
  }: {
    workspace: Workspace;
    before: Group | undefined;
    after: Group | undefined;
    changed: { added: number[]; removed: number[] };
  },
  context: CommandContext,
): Promise<void> => {
  const verb = before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated';
  const changes = { added: added.slice(0, MAX_RECORDED), removed: removed.slice(0, MAX_RECORDED) };
  await recordChange(trx, changeOf(workspace, context), {
    action: `group.${verb}`,
    target: { type: 'group', id: String((after ?? before)?.id) },
    before: before === undefined ? null : stateOf(before),
    after: after === undefined ? null : { ...stateOf(after), ...changes },
    now: context.now,
  });
};

const stateOf = ({ displayName, externalId, size }: Group) => ({
  display_name: displayName,
  external_id: externalId,
  members: size,
});
