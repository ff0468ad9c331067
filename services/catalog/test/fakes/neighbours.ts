import type { UnmanagedReferences, UserSnapshot } from '@tocsin/contracts';
import { listen } from '@tocsin/http';

/** The gateway's and the incident service's internal answers, from what a test fills in. */
export interface FakeNeighbours {
  url: string;
  /** What was asked, by path. */
  asked: Map<string, number>;
  /** While true, every question is answered with 503. */
  down: boolean;
  /** While true, no question is answered at all. */
  silent: boolean;
  /** Changes a user of a workspace at the gateway; answers the workspace's new version. */
  setUser(workspaceId: number, user: Partial<UserSnapshot> & { id: number }): number;
  /** What incidents of a workspace name without its being a service. */
  references: Map<number, UnmanagedReferences>;
  stop(): Promise<void>;
}

interface Gateway {
  version: number;
  users: Map<number, UserSnapshot & { version: number }>;
}

export async function startNeighbours(): Promise<FakeNeighbours> {
  const gateways = new Map<number, Gateway>();
  const gatewayOf = (id: number): Gateway => {
    const gateway = gateways.get(id) ?? { version: 0, users: new Map() };
    gateways.set(id, gateway);
    return gateway;
  };
  const answerTo = (url: URL): unknown => {
    const id = Number(url.searchParams.get('workspace_id'));
    if (url.pathname === '/internal/unmanaged-references') {
      return fake.references.get(id) ?? { references: [], truncated: false };
    }
    if (url.pathname !== '/internal/users/changes') return undefined;
    const since = Number(url.searchParams.get('since'));
    const { version, users } = gatewayOf(id);
    return { version, users: [...users.values()].filter((user) => user.version > since) };
  };

  const server = await listen(
    (request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      fake.asked.set(url.pathname, (fake.asked.get(url.pathname) ?? 0) + 1);
      if (fake.silent) return;
      const answer = answerTo(url);
      response.statusCode = fake.down ? 503 : answer === undefined ? 404 : 200;
      response.end(JSON.stringify(answer));
    },
    { host: '127.0.0.1', port: 0 },
  );
  const fake: FakeNeighbours = {
    url: server.url,
    asked: new Map(),
    down: false,
    silent: false,
    setUser(workspaceId, user) {
      const gateway = gatewayOf(workspaceId);
      gateway.version += 1;
      const blank = { email: `u${user.id}@example.com`, name: `User ${user.id}`, active: true } as const;
      gateway.users.set(user.id, {
        ...blank,
        seat: 'responder',
        role: 'member',
        ...gateway.users.get(user.id),
        ...user,
        version: gateway.version,
      });
      return gateway.version;
    },
    references: new Map(),
    stop: server.close,
  };
  return fake;
}
