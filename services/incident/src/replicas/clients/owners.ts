import {
  actingUser,
  catalogChangePage,
  customFieldChangePage,
  deletedEntries,
  exportedResources,
  INTERNAL_PATHS,
  MAX_PEOPLE,
  MAX_TEAMS_ON_CALL,
  memberships,
  type NewServiceTiers,
  onCall,
  type People,
  people,
  type Principal,
  storedServiceTiers,
  tiersPreparation,
  userChangePage,
} from '@tocsin/schemas';
import { type InternalClient, internalClient, serviceUnavailable } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { z } from 'zod';

/** Where a replica continues: after the version and, within later versions, the position that it has. */
interface ChangesFrom {
  workspaceId: number;
  since: number;
  after: string | undefined;
}

/** Milliseconds for one call. A request does not wait as long for a page of changes: the pull continues in the background. */
const TIMEOUT = 2_500;
/** Of a call whose answer a create can do without. */
const SHORT_TIMEOUT = 800;

export type Owners = ReturnType<typeof owners>;

const orUnavailable = async <Result>(what: string, call: Promise<Result>): Promise<Result> =>
  call.catch((cause: unknown) => {
    throw serviceUnavailable(`The ${what} of the workspace cannot be read at the moment; try again`, { cause });
  });

/** The services that own what incidents refer to. Calls to an owner that is down fail at once. */
export function owners(options: {
  urls: Readonly<Record<'users' | 'catalog' | 'customFields', readonly string[]>>;
  secretKeys: string;
}) {
  const { urls, secretKeys } = options;
  const clientOf = (service: string, addresses: readonly string[], timeout = TIMEOUT) =>
    internalClient({ urls: addresses, self: 'incident', service, secretKeys, timeout });
  const gateway = clientOf('gateway', urls.users);
  const catalog = clientOf('catalog', urls.catalog);
  const catalogSoon = clientOf('catalog', urls.catalog, SHORT_TIMEOUT);
  const customField = clientOf('custom-field', urls.customFields);
  const changesOf =
    <Schema extends z.ZodType>(client: InternalClient, path: string, page: Schema) =>
    async ({ workspaceId, since, after }: ChangesFrom) =>
      client.get(path, { workspace_id: workspaceId, since, after }, page);
  return {
    /** Return a page of what changed. */
    users: changesOf(gateway, INTERNAL_PATHS.userChangePages, userChangePage),
    catalog: changesOf(catalog, INTERNAL_PATHS.catalogChangePages, catalogChangePage),
    customFields: changesOf(customField, INTERNAL_PATHS.customFieldChangePages, customFieldChangePage),

    readTiers: async (workspaceId: number) =>
      catalog.get(INTERNAL_PATHS.serviceTiers, { workspace_id: workspaceId }, storedServiceTiers),
    prepareTiers: async (list: NewServiceTiers) => catalog.post(INTERNAL_PATHS.serviceTiers, list, tiersPreparation),

    /** Whether the gateway and its database can serve requests now. */
    canBeReached: async (): Promise<boolean> => canBeReached(gateway),

    /** Returns the IDs of the teams that a user is a member of. */
    findTeams: async (workspaceId: number, userId: number): Promise<number[]> => {
      const query = { workspace_id: workspaceId, user_id: userId };
      return (await catalog.get(INTERNAL_PATHS.memberships, query, memberships)).team_ids;
    },

    /** Returns the user who is on call now for each of these teams, of at most a hundred, for which one is. */
    findOnCall: async (workspaceId: number, teamIds: readonly number[]): Promise<Map<number, number>> => {
      const query = { workspace_id: workspaceId, team_ids: teamIds.slice(0, MAX_TEAMS_ON_CALL) };
      const { teams } = await catalogSoon.post(INTERNAL_PATHS.onCall, query, onCall);
      return new Map(teams.map(({ team_id: team, user_id: user }) => [team, user]));
    },

    /** Makes the gateway raise the workspace's version. */
    announceConfiguration: async (workspaceId: number): Promise<void> => {
      await gateway.post(INTERNAL_PATHS.configurationChanges, { workspace_id: workspaceId }, z.object({}));
    },

    /** Deletes a batch of the workspace's audit log before a time. Returns whether there may be more. */
    deleteAuditEntries: async (workspaceId: number, before: Instant): Promise<boolean> =>
      (await gateway.post(INTERNAL_PATHS.auditLogDeletions, { workspace_id: workspaceId, before }, deletedEntries))
        .more,

    /** Returns the users of a workspace with these IDs or email addresses. @throws DomainError `service_unavailable` */
    findPeople: async (workspaceId: number, named: NamedPeople) => findPeople(gateway, workspaceId, named),

    /**
     * Returns who acts in the workspace's chat, as the gateway would send it with a request.
     * @throws DomainError `service_unavailable`
     */
    findActingUser: async (workspaceId: number, email: string): Promise<Principal | undefined> => {
      const asked = gateway.post(INTERNAL_PATHS.actingUsers, { workspace_id: workspaceId, email }, actingUser);
      return (await orUnavailable('users', asked)).principal ?? undefined;
    },

    /**
     * Returns a page of resources, after the `next` of the previous one.
     * @throws DomainError `service_unavailable`
     */
    readResources: async (
      workspaceId: number,
      { kind, after }: { kind: 'team' | 'service' | 'field'; after: string },
    ) => {
      const client = kind === 'field' ? customField : catalog;
      const query = { workspace_id: workspaceId, kind, after };
      return orUnavailable(`${kind}s`, client.get(INTERNAL_PATHS.exportedResources, query, exportedResources));
    },

    close: () => [gateway, catalog, catalogSoon, customField].forEach((client) => client.close()),
  };
}

async function canBeReached(gateway: InternalClient): Promise<boolean> {
  const nothing = { workspace_id: 1, since: Number.MAX_SAFE_INTEGER, after: undefined };
  return gateway.get(INTERNAL_PATHS.userChangePages, nothing, userChangePage).then(
    () => true,
    () => false,
  );
}

interface NamedPeople {
  ids?: readonly number[];
  emails?: readonly string[];
}

async function findPeople(
  gateway: InternalClient,
  workspaceId: number,
  { ids = [], emails = [] }: NamedPeople,
): Promise<People['users']> {
  const users: People['users'] = [];
  for (let start = 0; start < Math.max(ids.length, emails.length); start += MAX_PEOPLE) {
    const part = <Each>(all: readonly Each[]) => all.slice(start, start + MAX_PEOPLE);
    const query = { workspace_id: workspaceId, ids: part(ids), emails: part(emails) };
    users.push(...(await orUnavailable('users', gateway.post(INTERNAL_PATHS.people, query, people))).users);
  }
  return users;
}
