import SCIMMY from 'scimmy';
import SCIMMYRouters from 'scimmy-routers';
import type { Request } from 'express';
import type { Knex } from '@tocsin/postgres';
import { DomainError } from '@tocsin/http';
import type { CommandContext } from '../../accounts/actor.ts';
import type { MemberChange } from '../../accounts/domain/directory.ts';
import { type Group, scimGroupStore } from '../../accounts/store/scim-group-store.ts';
import { type DirectoryUser, scimUserStore } from '../../accounts/store/scim-user-store.ts';
import { idOf } from '../domain/filter.ts';
import { MAX_MEMBERS } from '../domain/patch.ts';
import { MAX_COUNT, type ScimQuery } from '../domain/query.ts';
import { deleteGroup, getGroup, writeGroup } from '../groups.ts';
import { deactivateUser, getUser, writeUser } from '../users.ts';

/** A request on its way through `scimmy`. */
export interface ScimWork {
  workspaceId: number;
  /** The transaction of a write. */
  db: Knex;
  /** Undefined for a read. */
  context: CommandContext | undefined;
  method: string;
  query: ScimQuery;
  members: MemberChange | undefined;
  /** What a handler has thrown: `scimmy` would make a 404 of it. */
  failure: Error | undefined;
}

/**
 * What `scimmy` keeps is global: the declared resources and the paths of their locations, which are the same for all
 * workspaces. Everything else of a request is in its work.
 */
const works = new WeakMap<Request, ScimWork>();

/** Makes `scimmy` serve a request by its work. */
export const workOn = (request: Request, work: ScimWork): void => void works.set(request, work);

interface Resource {
  id?: string;
  constraints?: object;
}

/** Calls a handler, and keeps its error. */
const guarded =
  <Args extends unknown[], Result>(handle: (work: ScimWork, ...args: Args) => Promise<Result>) =>
  async (work: ScimWork, ...args: Args): Promise<Result> => {
    try {
      return await handle(work, ...args);
    } catch (error) {
      work.failure = error instanceof Error ? error : new Error(String(error));
      throw new SCIMMY.Types.Error(500, '', 'refused');
    }
  };

/** Sets what the list response says. Its paging would cut off the page that was read. */
const pageOf = <Row>(resource: Resource, rows: Row[], total: number): Row[] => {
  resource.constraints = { count: rows.length, totalResults: total };
  return rows;
};

const contextOf = ({ context, db }: ScimWork) => {
  if (context === undefined) throw new DomainError('method_not_allowed', 'A read changes nothing');
  return { context, trx: db as Knex.Transaction };
};

const readUsers = guarded(async ({ db, workspaceId, query }, resource: Resource) => {
  if (resource.id !== undefined) return viewOfUser(await getUser(db, workspaceId, idOf(resource.id)));
  const { conditions, startIndex, count } = query;
  const { users, total } = await scimUserStore(db).list({
    workspaceId,
    conditions,
    offset: startIndex - 1,
    limit: count,
  });
  return pageOf(resource, users.map(viewOfUser), total);
});

/** A user as the request has it; in a PATCH, with what the request leaves. */
interface UserInstance {
  userName: string;
  externalId?: string | null;
  displayName?: string | null;
  name?: { formatted?: string; givenName?: string; familyName?: string } | null;
  active?: boolean;
  emails?: { value?: string; type?: string; primary?: boolean }[] | null;
}

const writeUserOf = guarded(async (work, resource: Resource, instance: UserInstance) => {
  const { context, trx } = contextOf(work);
  const { userName, externalId, displayName, name, active, emails } = instance;
  const joined = [name?.givenName, name?.familyName].filter(Boolean).join(' ');
  const addresses = [...(emails ?? [])];
  const address =
    addresses.findLast(({ primary }) => primary === true) ??
    addresses.find(({ type }) => type === 'work') ??
    addresses[0];
  const user = await writeUser(
    trx,
    {
      workspaceId: work.workspaceId,
      id: resource.id === undefined ? undefined : idOf(resource.id),
      userName,
      // A PATCH begins with all that there is.
      externalId: work.method === 'PATCH' ? (externalId ?? null) : (externalId ?? undefined),
      email: address?.value ?? userName,
      name: [displayName, name?.formatted, joined].find((each) => each != null && each.trim() !== '') ?? userName,
      active: active ?? undefined,
    },
    context,
  );
  return viewOfUser(user);
});

const viewOfUser = ({ id, userName, externalId, email, name, active, createdAt, updatedAt }: DirectoryUser) => ({
  id: String(id),
  userName,
  ...(externalId !== null && { externalId }),
  displayName: name,
  name: { formatted: name },
  active,
  emails: [{ value: email, type: 'work', primary: true }],
  meta: { created: createdAt, lastModified: updatedAt },
});

const readGroups = guarded(async ({ db, workspaceId, query }, resource: Resource) => {
  if (resource.id !== undefined) return viewOfGroup(await getGroup(db, workspaceId, idOf(resource.id)));
  const { conditions, startIndex, count, showsMembers } = query;
  const { groups, total } = await scimGroupStore(db).list({
    workspaceId,
    conditions,
    offset: startIndex - 1,
    limit: count,
  });
  let members = 0;
  // A page ends before it has too many members; the next one begins there.
  const page = groups.filter(({ size }, index) => (members += size) <= MAX_MEMBERS || index === 0 || !showsMembers);
  return pageOf(resource, page.map(viewOfGroup), total);
});

const writeGroupOf = guarded(
  async (
    work,
    resource: Resource,
    { displayName, externalId }: { displayName: string; externalId?: string | null },
  ) => {
    const { context, trx } = contextOf(work);
    const group = await writeGroup(
      trx,
      {
        workspaceId: work.workspaceId,
        id: resource.id === undefined ? undefined : idOf(resource.id),
        displayName,
        externalId: work.method === 'PATCH' ? (externalId ?? null) : (externalId ?? undefined),
        members: work.members,
      },
      context,
    );
    return viewOfGroup(group);
  },
);

const viewOfGroup = ({ id, displayName, externalId, createdAt, updatedAt }: Group) => ({
  id: String(id),
  displayName,
  ...(externalId !== null && { externalId }),
  meta: { created: createdAt, lastModified: updatedAt },
});

const remove = (command: typeof deactivateUser) =>
  guarded(async (work, { id = '' }: Resource) => {
    const { context, trx } = contextOf(work);
    await command(trx, { workspaceId: work.workspaceId, id: idOf(id) }, context);
  });

/** The attributes that Tocsin does not have. */
SCIMMY.Schemas.User.truncate([
  ...['nickName', 'profileUrl', 'title', 'userType', 'preferredLanguage', 'locale', 'timezone', 'password'],
  ...['phoneNumbers', 'ims', 'photos', 'addresses', 'groups', 'entitlements', 'roles', 'x509Certificates'],
]);
// RFC 7643 only suggests the types, and directories have others.
SCIMMY.Schemas.User.definition.attribute('emails.type').config.canonicalValues = false;

SCIMMY.Resources.declare(SCIMMY.Resources.User, {
  egress: async (resource: Resource, work: ScimWork) => readUsers(work, resource),
  ingress: async (resource: Resource, instance: UserInstance, work: ScimWork) => writeUserOf(work, resource, instance),
  degress: async (resource: Resource, work: ScimWork) => remove(deactivateUser)(work, resource),
}).declare(SCIMMY.Resources.Group, {
  egress: async (resource: Resource, work: ScimWork) => readGroups(work, resource),
  ingress: async (resource: Resource, instance: { displayName: string }, work: ScimWork) =>
    writeGroupOf(work, resource, instance),
  degress: async (resource: Resource, work: ScimWork) => remove(deleteGroup)(work, resource),
});

/** One for the process: each constructor adds to the global configuration. */
export const scimRouter = new SCIMMYRouters({
  type: 'bearer',
  // The public server has authenticated the request.
  handler: () => '',
  context: (request) => works.get(request),
});

SCIMMY.Config.set({ bulk: false, sort: false, filter: { supported: true, maxResults: MAX_COUNT } });
