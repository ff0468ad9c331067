import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import {
  type ConfiguredTier,
  INTERNAL_PATHS,
  type CustomFieldDefinition,
  type Memberships,
  type NewServiceTiers,
  type onCallQuery,
  type People,
  type peopleQuery,
  type ServiceSnapshot,
  type StoredServiceTiers,
  type TeamSnapshot,
  type TiersPreparation,
  type UserSnapshot,
  type UsersOnCall,
} from '@tocsin/schemas';
import { listen } from '@tocsin/http';
import { testPrincipal } from '@tocsin/testing';
import type { z } from 'zod';
import type { Versions } from '@tocsin/runtime';

interface WorkspaceData {
  version: number;
  users: UserSnapshot[];
  teams: TeamSnapshot[];
  services: ServiceSnapshot[];
  tiers: { key: string; label: string; order: number; is_default: boolean }[];
  fields: CustomFieldDefinition[];
}

/** Fakes the internal routes of gateway, catalog and custom-field service with data that a test sets. */
export interface FakeOwners {
  urls: { users: string; catalog: string; customFields: string };
  /** Number of calls of all owners. */
  calls: number;
  /** Number of calls that were closed without a response. */
  refused: number;
  /** The queries of the calls of one workspace, in their order. */
  queriesOf(workspaceId: number): string[];
  /** The service tiers of a workspace as the catalog stores them; prepared ones stay prepared. */
  storedTiers(workspaceId: number): StoredServiceTiers;
  /** The teams of users, by their IDs. */
  teamsOf: Map<number, number[]>;
  /** Who is on call for teams, by their IDs. */
  onCall: Map<number, number>;
  /** Questions about who is on call. */
  onCallQuestions: number;
  /** What the catalog responds instead of preparing tiers. */
  preparation: TiersPreparation | undefined;
  /** How often the gateway was told that the configuration of a workspace has changed. */
  announced: Map<number, number>;
  /** While true, nobody can tell the gateway of a change. */
  isGatewayAway: boolean;
  /** Before which times entries of the audit log of a workspace were to be deleted. */
  auditDeletions: Map<number, string[]>;
  /** While true, changes are not announced, as if Redis lost the version. */
  announcementsDisabled: boolean;
  /** While true, every connection is closed without a response. */
  down: boolean;
  /** Workspaces whose calls get no response, while the owner answers those of others. */
  silentFor: Set<number>;
  /** Workspaces whose calls get a 503. */
  failingFor: Set<number>;
  /** Changes in one page. */
  pageSize: number;
  /** Holds the response of every page after this one until it is undefined again. */
  holdAfterPage: number | undefined;
  /** Holds the next response, with the data at the time of the call, until it is released. */
  holdNext(): HeldResponse;
  /** Changes one workspace's data and announces the version. */
  change(workspaceId: number, change: (data: WorkspaceData) => void): Promise<number>;
  stop(): Promise<void>;
}

interface HeldResponse {
  /** Resolves when the call has arrived and its response is fixed. */
  asked: Promise<void>;
  release(): void;
}

type Owner = keyof FakeOwners['urls'];

const TIERS = ['t0', 't1', 't2', 't3'].map((key, order) => ({ key, label: key, order, is_default: key === 't2' }));

const CONFIGURED_TIERS: ConfiguredTier[] = TIERS.map((tier) => ({ ...tier, description: '' }));

/** What an owner's page has of each kind. */
const CHANGES: Record<Owner, (data: WorkspaceData) => object[]> = {
  users: ({ users }) => users.map((user) => ({ user })),
  catalog: ({ teams, services }) => [...teams.map((team) => ({ team })), ...services.map((service) => ({ service }))],
  customFields: ({ fields }) => fields.map((field) => ({ field })),
};

/** Every record counts as changed at the workspace's version, so the position is the number of records before it. */
function pageOf(owner: Owner, { data, after, size }: { data: WorkspaceData; after: string | null; size: number }) {
  const { version, tiers } = data;
  const [positionVersion, , position = 0] = (after ?? '').split('.').map(Number);
  const start = positionVersion === version ? position : 0;
  const changes = CHANGES[owner](data).map((change) => ({ version, ...change }));
  const end = start + size;
  const hasMore = changes.length > end;
  return {
    version: hasMore ? version - 1 : version,
    next: hasMore ? `${version}.0.${end}` : null,
    changes: changes.slice(start, end),
    tiers,
  };
}

export async function startOwners(versions: Versions): Promise<FakeOwners> {
  const workspaces = new Map<number, WorkspaceData>();
  const queries = new Map<number, string[]>();
  const waiting = new Set<() => void>();
  const dataOf = (id: number): WorkspaceData => {
    const data = workspaces.get(id) ?? { version: 0, users: [], teams: [], services: [], tiers: TIERS, fields: [] };
    workspaces.set(id, data);
    return data;
  };
  const announce = async (id: number, version: number) => {
    await versions.raise('catalog', id, version);
    await versions.raise('custom_field', id, version);
  };
  const storedTiers = new Map<number, StoredServiceTiers>();
  /** Responds to the calls of changes of configurations. */
  const configurationCall = async (request: IncomingMessage, url: URL): Promise<object | undefined> => {
    if (url.pathname === '/internal/audit-log/deletions') {
      const { workspace_id: id, before } = (await json(request)) as { workspace_id: number; before: string };
      fake.auditDeletions.set(id, [...(fake.auditDeletions.get(id) ?? []), before]);
      return { more: false };
    }
    if (url.pathname === '/internal/configuration-changes') {
      const { workspace_id: id } = (await json(request)) as { workspace_id: number };
      fake.announced.set(id, (fake.announced.get(id) ?? 0) + 1);
      return {};
    }
    if (url.pathname === '/internal/people') {
      const { workspace_id: id, ids, emails } = (await json(request)) as z.infer<typeof peopleQuery>;
      const isNamed = ({ id, email }: UserSnapshot) => ids.includes(id) || emails.includes(email.toLowerCase());
      return { users: dataOf(id).users.filter(isNamed) } satisfies People;
    }
    if (url.pathname === '/internal/acting-users') {
      const { workspace_id: id, email } = (await json(request)) as { workspace_id: number; email: string };
      const user = dataOf(id).users.find((each) => each.active && each.email.toLowerCase() === email.toLowerCase());
      const seat = user?.seat === 'responder' ? 'responder' : 'none';
      const of = { workspace: { id, slug: `workspace-${id}` }, user_id: user?.id ?? 1, seat, permissions: [] } as const;
      const scopes = ['incidents:read', 'incidents:write', 'restricted:read'];
      const acting = { ...of, scopes, key_id: 0, key: { name: 'Slack', prefix: 'tcn_slack' } };
      return { principal: user === undefined ? null : testPrincipal(acting) };
    }
    if (url.pathname === '/internal/memberships') {
      return { team_ids: fake.teamsOf.get(Number(url.searchParams.get('user_id'))) ?? [] } satisfies Memberships;
    }
    if (url.pathname === INTERNAL_PATHS.onCall) {
      fake.onCallQuestions += 1;
      const { team_ids: ids } = (await json(request)) as z.infer<typeof onCallQuery>;
      const teams = ids.flatMap((id) => ({ team_id: id, user_id: fake.onCall.get(id) ?? 0 }));
      return { teams: teams.filter(({ user_id: user }) => user > 0) } satisfies UsersOnCall;
    }
    if (url.pathname === '/internal/exported-resources') return { resources: [], next: null };
    if (url.pathname !== '/internal/service-tiers') return undefined;
    if (request.method === 'GET') return fake.storedTiers(Number(url.searchParams.get('workspace_id')));
    if (fake.preparation !== undefined) return fake.preparation;
    const list = (await json(request)) as NewServiceTiers;
    const { version, tiers, prepared } = fake.storedTiers(list.workspace_id);
    const settled = prepared !== null && list.committed_version >= version ? prepared : tiers;
    storedTiers.set(list.workspace_id, { version: list.version, tiers: settled, prepared: list.tiers });
    return { outcome: 'prepared' } satisfies TiersPreparation;
  };
  let held: (() => Promise<void>) | undefined;
  let holdAfterPage: number | undefined;

  const respond = async (
    owner: Owner,
    { request, response }: { request: IncomingMessage; response: ServerResponse },
  ) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (fake.down) {
      fake.refused += 1;
      return void request.socket.destroy();
    }
    if (url.pathname === '/healthz') return void response.end('{}');
    if (fake.isGatewayAway && url.pathname === '/internal/configuration-changes') {
      response.statusCode = 503;
      return void response.end('{}');
    }
    const internal = await configurationCall(request, url);
    if (internal !== undefined) return void response.end(JSON.stringify(internal));
    fake.calls += 1;
    const id = Number(url.searchParams.get('workspace_id'));
    queries.set(id, [...fake.queriesOf(id), url.search]);
    if (fake.silentFor.has(id)) return;
    const data = dataOf(id);
    response.statusCode = fake.failingFor.has(id) ? 503 : 200;
    const after = url.searchParams.get('after');
    const answer = JSON.stringify(pageOf(owner, { data, after, size: fake.pageSize }));
    const wait = held?.() ?? Promise.resolve();
    held = undefined;
    await announce(id, data.version);
    await wait;
    const page = Number((after ?? '0.0.0').split('.')[2]) / fake.pageSize;
    if (holdAfterPage !== undefined && page >= holdAfterPage) await new Promise<void>((go) => waiting.add(go));
    response.end(answer);
  };
  const serverOf = async (owner: Owner) =>
    listen((request, response) => void respond(owner, { request, response }), { host: '127.0.0.1', port: 0 });
  const servers = await Promise.all([serverOf('users'), serverOf('catalog'), serverOf('customFields')]);
  const [users, catalog, customFields] = servers;
  const fake: FakeOwners = {
    urls: { users: users.url, catalog: catalog.url, customFields: customFields.url },
    calls: 0,
    refused: 0,
    queriesOf: (workspaceId) => queries.get(workspaceId) ?? [],
    storedTiers: (workspaceId) =>
      storedTiers.get(workspaceId) ?? { version: 0, tiers: CONFIGURED_TIERS, prepared: null },
    teamsOf: new Map(),
    onCall: new Map(),
    onCallQuestions: 0,
    preparation: undefined,
    announced: new Map(),
    isGatewayAway: false,
    auditDeletions: new Map(),
    announcementsDisabled: false,
    down: false,
    silentFor: new Set(),
    failingFor: new Set(),
    pageSize: 2_000,
    get holdAfterPage() {
      return holdAfterPage;
    },
    set holdAfterPage(page) {
      holdAfterPage = page;
      if (page !== undefined) return;
      for (const go of waiting) go();
      waiting.clear();
    },
    holdNext() {
      const asked = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held = async () => {
        asked.resolve();
        return released.promise;
      };
      return { asked: asked.promise, release: released.resolve };
    },
    async change(workspaceId, change) {
      const data = dataOf(workspaceId);
      change(data);
      data.version += 1;
      if (!fake.announcementsDisabled) await announce(workspaceId, data.version);
      return data.version;
    },
    stop: async () => {
      fake.holdAfterPage = undefined;
      await Promise.all(servers.map(async (server) => server.close()));
    },
  };
  return fake;
}
