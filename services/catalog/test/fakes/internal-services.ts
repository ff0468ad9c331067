import type { UnmanagedReferences, UserSnapshot } from '@tocsin/schemas';
import { listen } from '@tocsin/http';

/** A server that plays the internal APIs of the gateway and the incident service with data that a test sets. */
export interface FakeInternalServices {
  url: string;
  /** The number of requests by path. */
  requestCounts: Map<string, number>;
  /** While true, every connection is closed without a response. */
  down: boolean;
  /** While true, no request gets a response. */
  silent: boolean;
  /** Users in one page. */
  pageSize: number;
  /** Changes a user of a workspace at the gateway and returns the workspace's new version. */
  setUser(workspaceId: number, user: Partial<UserSnapshot> & { id: number }): number;
  /** The unmanaged references of each workspace. */
  references: Map<number, UnmanagedReferences>;
  /** The version of the latest list of tiers that the incident service has committed, by workspace. */
  committedTiers: Map<number, number>;
  stop(): Promise<void>;
}

interface WorkspaceUsers {
  version: number;
  users: Map<number, UserSnapshot & { version: number }>;
}

export async function startInternalServices(): Promise<FakeInternalServices> {
  const workspaces = new Map<number, WorkspaceUsers>();
  const workspaceOf = (id: number): WorkspaceUsers => {
    const workspace = workspaces.get(id) ?? { version: 0, users: new Map() };
    workspaces.set(id, workspace);
    return workspace;
  };
  const responseTo = (url: URL): unknown => {
    const id = Number(url.searchParams.get('workspace_id'));
    if (url.pathname === '/internal/unmanaged-references') {
      return fake.references.get(id) ?? { references: [], truncated: false };
    }
    if (url.pathname === '/internal/configuration/service-tiers') return { version: fake.committedTiers.get(id) ?? 0 };
    if (url.pathname !== '/internal/users/changes/pages') return undefined;
    const { version, users } = workspaceOf(id);
    const [since = 0] = (url.searchParams.get('after') ?? url.searchParams.get('since') ?? '').split('.').map(Number);
    const changed = [...users.values()].filter((user) => user.version > since).sort((a, b) => a.version - b.version);
    const page = changed.slice(0, fake.pageSize);
    const last = page.at(-1)?.version ?? 0;
    return {
      version: page.length < changed.length ? last : version,
      next: page.length < changed.length ? `${last}.0.0` : null,
      changes: page.map((user) => ({ version: user.version, user })),
    };
  };

  const server = await listen(
    (request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      fake.requestCounts.set(url.pathname, (fake.requestCounts.get(url.pathname) ?? 0) + 1);
      if (fake.silent) return;
      if (fake.down) return void request.socket.destroy();
      if (url.pathname === '/healthz') return void response.end('{}');
      const body = responseTo(url);
      response.statusCode = body === undefined ? 404 : 200;
      response.end(JSON.stringify(body));
    },
    { host: '127.0.0.1', port: 0 },
  );
  const fake: FakeInternalServices = {
    url: server.url,
    requestCounts: new Map(),
    down: false,
    silent: false,
    pageSize: 2_000,
    setUser(workspaceId, user) {
      const workspace = workspaceOf(workspaceId);
      workspace.version += 1;
      const defaults = { email: `u${user.id}@example.com`, name: `User ${user.id}`, active: true } as const;
      workspace.users.set(user.id, {
        ...defaults,
        seat: 'responder',
        role: 'member',
        ...workspace.users.get(user.id),
        ...user,
        version: workspace.version,
      });
      return workspace.version;
    },
    references: new Map(),
    committedTiers: new Map(),
    stop: server.close,
  };
  return fake;
}
