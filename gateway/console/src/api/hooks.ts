import type {
  CustomField,
  Me,
  Pagination,
  Service,
  ServiceTier,
  Severity,
  Team,
  TeamMember,
  User,
  WorkflowStatus,
} from '@tocsin/sdk';
import {
  keepPreviousData,
  QueryCache,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import { ApiError, query, read, type Write, write } from './client.ts';

const MINUTE = 60_000;

/** Queries are known by the path that they read, so that a write can name what it makes old. */
export const queryClient: QueryClient = new QueryClient({
  // Whatever finds that the session has ended: the shell asks who is signed in, and shows the answer.
  queryCache: new QueryCache({
    onError: (error, { queryKey: [path] }) => {
      if (error instanceof ApiError && error.status === 401 && path !== '/me') void refresh('/me');
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: MINUTE,
      gcTime: 30 * MINUTE,
      // What the server refuses, it refuses again.
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      // A request that fails says so; the state of the network interface does not matter.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

export const useGet = <Body>(path: string, { enabled = true, every }: { enabled?: boolean; every?: number } = {}) =>
  useQuery<Body, ApiError>({
    queryKey: [path],
    queryFn: async () => read<Body>(path),
    enabled,
    ...(every !== undefined && { refetchInterval: every }),
    placeholderData: keepPreviousData,
  });

type Page = Record<string, unknown> & { pagination: Pagination };

/** The rows of a list that were read so far, page by page. @param property has the rows of a page */
export const useList = <Row, First = unknown>(
  path: string,
  property: string,
  parameters: Parameters<typeof query>[0] = {},
) => {
  const first = path + query(parameters);
  return useInfiniteQuery<Page, ApiError, { rows: Row[]; first: First }, string[], string | undefined>({
    queryKey: [first],
    queryFn: async ({ pageParam: cursor }) => read<Page>(path + query({ ...parameters, cursor })),
    initialPageParam: undefined,
    getNextPageParam: ({ pagination }) => (pagination.has_more ? pagination.next_cursor : undefined),
    select: ({ pages }) => ({ rows: pages.flatMap((page) => page[property] as Row[]), first: pages[0] as First }),
  });
};

/** At most this many pages of what is chosen from, which is 500 rows. */
const MAX_PAGES = 5;

/** Reads the first pages of a list as one. */
const useAll = <Row>(path: string, name: string) =>
  useQuery<Row[], ApiError>({
    queryKey: [path, 'all'],
    queryFn: async () => {
      const rows: Row[] = [];
      let cursor: string | undefined;
      for (let pages = 0; pages < MAX_PAGES; pages += 1) {
        const page = await read<Page>(path + query({ limit: 100, cursor }));
        rows.push(...(page[name] as Row[]));
        cursor = page.pagination.next_cursor;
        if (!page.pagination.has_more) break;
      }
      return rows;
    },
    staleTime: 5 * MINUTE,
  });

/** Makes everything old whose path begins with one of these. */
export const refresh = async (...paths: readonly string[]): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [path] }) => paths.some((each) => String(path).startsWith(each)),
  });

/** The list that a path begins with: `/teams` of `/teams/1/members/2`. */
export const listOf = (path: string): string => path.split(/\/\d/)[0] ?? path;

/** @param changes what a write makes old */
export const useWrite = <Body>(...changes: readonly string[]) =>
  useMutation<Body, ApiError, Write>({
    mutationFn: write<Body>,
    onSuccess: async () => refresh(...changes),
  });

export const useMe = () => useGet<Me>('/me');

/** What the signed-in user may do. */
export function useAccess() {
  const { data } = useMe();
  const { user, permissions = [] } = data ?? {};
  return {
    user,
    canRespond: user?.seat === 'responder',
    canManage: permissions.includes('manage_settings'),
    canManageTeams: user?.seat === 'responder' && permissions.includes('manage_teams'),
    canManageServices: user?.seat === 'responder' && permissions.includes('manage_settings'),
  };
}

export const useTeams = () => useAll<Team>('/teams', 'teams');
export const useMembers = (path: string) => useAll<TeamMember>(path, 'members');
export const usePeople = () => useAll<User>('/settings/users', 'users');
export const useServices = () => useAll<Service>('/services', 'services');
export const useFields = () => useAll<CustomField>('/custom-fields', 'fields');

export function useConfiguration() {
  const statuses = useGet<{ workflow_statuses: WorkflowStatus[] }>('/configuration/workflow-statuses');
  const severities = useGet<{ severities: Severity[] }>('/configuration/severities');
  return { statuses: statuses.data?.workflow_statuses ?? [], severities: severities.data?.severities ?? [] };
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
    return people.find((person) => String(person.id) === String(id))?.name ?? `User ${id}`;
  };
}
