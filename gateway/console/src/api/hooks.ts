import {
  type ApiKey,
  type ChangelogEntry,
  type Configuration,
  type CustomField,
  type IncidentRole,
  type Me,
  type OnCall,
  type Pagination,
  type Query,
  type Retention,
  type Service,
  type ServiceTier,
  type Severity,
  type Team,
  type TeamMember,
  TocsinError,
  type User,
  type WorkflowStatus,
} from '@tocsin/sdk';
import { keepPreviousData, QueryClient, useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { read, SIGNED_OUT, write, type Write } from './client.ts';
import { query } from './query.ts';

const MINUTE = 60_000;

/** Queries are known by the path that they read, so that a write can name what it makes old. */
export const queryClient: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: MINUTE,
      gcTime: 30 * MINUTE,
      // What the server refuses, it refuses again.
      retry: (count, error) => count < 2 && !(error instanceof TocsinError && (error.status ?? 500) < 500),
      // A request that fails says so; the state of the network interface does not matter.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

/** Milliseconds between two reads, also as a function of what was read; `false` ends them. */
type Every<Data> = number | ((query: { state: { data: Data | undefined } }) => number | false);

export const useGet = <Body>(
  path: string,
  { enabled = true, every }: { enabled?: boolean; every?: Every<Body> } = {},
) =>
  useQuery<Body, TocsinError>({
    queryKey: [path],
    queryFn: async () => read<Body>(path),
    enabled,
    ...(every !== undefined && { refetchInterval: every }),
    placeholderData: keepPreviousData,
  });

// Whatever finds that the session has ended: the shell asks who is signed in, and shows the answer.
window.addEventListener(SIGNED_OUT, (event) => {
  if ((event as CustomEvent<string>).detail !== '/me') void refresh('/me');
});

type Page = Record<string, unknown> & { pagination: Pagination };

/**
 * The rows of a list that were read so far, page by page.
 * @param property has the rows of a page
 * @param options `later` are other parameters of the pages after the first
 */
export const useList = <Row, First = unknown>(
  path: string,
  property: string,
  parameters: Query = {},
  { every, later }: { every?: Every<{ pages: readonly Page[] }>; later?: Query } = {},
) => {
  const first = path + query(parameters);
  return useInfiniteQuery<Page, TocsinError, { rows: Row[]; first: First }, string[], string | undefined>({
    queryKey: [first],
    queryFn: async ({ pageParam: cursor }) =>
      read<Page>(path + query({ ...parameters, ...(cursor !== undefined && later), cursor })),
    ...(every !== undefined && { refetchInterval: every }),
    initialPageParam: undefined,
    getNextPageParam: ({ pagination }) => (pagination.has_more ? pagination.next_cursor : undefined),
    select: ({ pages }) => ({ rows: pages.flatMap((page) => page[property] as Row[]), first: pages[0] as First }),
  });
};

/** At most this many rows of what is chosen from. */
export const MAX_CHOICES = 500;

/** Reads the first pages of a list as one. */
const useAll = <Row>(path: string, name: string) =>
  useQuery<Row[], TocsinError>({
    queryKey: [path, 'all'],
    queryFn: async () => {
      const rows: Row[] = [];
      let cursor: string | undefined;
      while (rows.length < MAX_CHOICES) {
        const page = await read<Page>(path + query({ limit: 100, cursor }));
        rows.push(...(page[name] as Row[]));
        cursor = page.pagination.next_cursor;
        if (!page.pagination.has_more) break;
      }
      return rows;
    },
    staleTime: 5 * MINUTE,
  });

/** Whether a path is another one, or below it: `/incidents/1/timeline` is below `/incidents/1`, `/incidents/10` is not. */
const isBelow = (path: string, top: string): boolean =>
  path.startsWith(top) && (top.endsWith('/') || ['', '/', '?'].includes(path.charAt(top.length)));

/** Makes everything old whose path is one of these, or below one. */
export const refresh = async (...paths: readonly string[]): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [path] }) => paths.some((top) => isBelow(String(path), top)),
  });

/** Makes only what has exactly these paths old. */
export const refreshExactly = async (paths: ReadonlySet<string>): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [path] }) => paths.has(String(path).split('?', 1)[0] ?? ''),
  });

/** What says anything of incidents. */
const OF_INCIDENTS = ['/incidents', '/timeline', '/follow-ups', '/alerts'];

/** Forgets what was read of all incidents, and reads again what is shown: somebody may no longer see one of them. */
export const forgetIncidents = async (): Promise<void> =>
  queryClient.resetQueries({
    predicate: ({ queryKey: [path] }) => OF_INCIDENTS.some((top) => isBelow(String(path), top)),
  });

/** The list that a path begins with: `/teams` of `/teams/1/members/2`. */
export const listOf = (path: string): string => path.split(/\/\d/)[0] ?? path;

/** @param changes what a write makes old */
export const useWrite = <Body>(...changes: readonly string[]) =>
  useMutation<Body, TocsinError, Write>({
    mutationFn: write<Body>,
    onSuccess: async () => refresh(...changes),
  });

/** Idempotency keys: the same for repetitions of one content, so that somebody who clicks often creates one resource. */
export function useContentKey() {
  const lastRequest = useRef({ content: '', key: '' });
  return {
    of: (content: string): string => {
      if (lastRequest.current.content !== content) lastRequest.current = { content, key: crypto.randomUUID() };
      return lastRequest.current.key;
    },
    forget: () => void (lastRequest.current = { content: '', key: '' }),
  };
}

export const useMe = () => useGet<Me>('/me');

/** What the signed-in user may do. */
export function useAccess() {
  const { data } = useMe();
  const { user, permissions = [], api_key: key } = data ?? {};
  const canSeeRestricted = key?.scopes.includes('restricted:read') === true;
  return {
    user,
    canRespond: user?.seat === 'responder',
    /** Whether those restricted incidents are shown that the user may see. */
    canSeeRestricted,
    /** Whether all are shown, and their events arrive. */
    seesAllRestricted: canSeeRestricted && permissions.includes('view_restricted'),
    canManage: permissions.includes('manage_settings'),
    canDelete: permissions.includes('delete_permanently'),
    canManageTeams: user?.seat === 'responder' && permissions.includes('manage_teams'),
    canManageServices: user?.seat === 'responder' && permissions.includes('manage_settings'),
  };
}

export const useTeams = () => useAll<Team>('/teams', 'teams');
export const useMembers = (path: string) => useAll<TeamMember>(path, 'members');
export const usePeople = () => useAll<User>('/settings/users', 'users');
/** Who may respond: people without a seat cannot change an incident, and so not lead one. */
export const useResponders = () => usePeople().data?.filter(({ active, seat }) => active && seat === 'responder') ?? [];
export const useApiKeys = () => useAll<ApiKey>('/settings/api-keys', 'api_keys');
export const useServices = () => useAll<Service>('/services', 'services');
export const useFields = () => useAll<CustomField>('/custom-fields', 'fields');

export function useConfiguration() {
  const statuses = useGet<{ workflow_statuses: WorkflowStatus[] }>('/configuration/workflow-statuses');
  const severities = useGet<{ severities: Severity[] }>('/configuration/severities');
  const roles = useGet<{ incident_roles: IncidentRole[] }>('/configuration/incident-roles');
  return {
    statuses: statuses.data?.workflow_statuses ?? [],
    severities: severities.data?.severities ?? [],
    roles: roles.data?.incident_roles ?? [],
  };
}

/** How long the workspace keeps what, for those who may know it. */
export const useRetention = (enabled: boolean) =>
  useGet<{ retention: Retention }>('/settings/retention', { enabled }).data?.retention;

/** Who is on call for a team, as it was read last. */
export const useOnCall = (team: number | undefined, { enabled = true } = {}) =>
  useGet<{ on_call: OnCall }>(onCallPath(team), { enabled: enabled && team !== undefined, every: MINUTE });

export const onCallPath = (team: number | undefined): string => `/teams/${team}/on-call`;

/** Whether who is on call for a team leads its new incidents, and who that is. */
export function useOnCallLead(team: number | undefined) {
  const { data } = useGet<{ configuration: Configuration }>('/settings/configuration');
  const setting = data?.configuration.on_call_lead ?? 'off';
  const { data: read, isPlaceholderData: isOfOther } = useOnCall(team, { enabled: setting !== 'off' });
  const isKnown = setting !== 'off' && team !== undefined && !isOfOther;
  return { setting, person: isKnown ? read?.on_call.now.find(({ user_id: user }) => user !== null) : undefined };
}

export const useTiers = () =>
  useGet<{ service_tiers: ServiceTier[] }>('/configuration/service-tiers').data?.service_tiers ?? [];

/** The name of a user by the ID, as resources have it. */
export function useNameOf(): (id: string | number) => string {
  const { data: people = [] } = usePeople();
  const { data: me } = useMe();
  return (id) => {
    if (String(id) === '') return '';
    if (String(me?.user.id) === String(id)) return 'You';
    const name = people.find((person) => String(person.id) === String(id))?.name;
    // An import keeps the names of people who are no users.
    return name ?? (/^\d+$/.test(String(id)) ? `User ${id}` : String(id));
  };
}

/** What acted: a key by its name, with its owner's, and a session by the name of its person. */
export function useActorOf(): (id: string, key: ChangelogEntry['api_key']) => string {
  const nameOf = useNameOf();
  const { user } = useAccess();
  return (id, key) => {
    if (key === null || key.prefix.startsWith('tcn_')) return nameOf(id);
    return `${key.name} (key of ${user !== undefined && String(user.id) === id ? user.name : nameOf(id)})`;
  };
}
