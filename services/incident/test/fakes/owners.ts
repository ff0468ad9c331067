import { createServer } from 'node:http';
import type { CustomFieldDefinition, ServiceSnapshot, TeamSnapshot, UserSnapshot } from '@tocsin/contracts';
import { listen } from '@tocsin/http';
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
  url: string;
  /** Number of calls of all owners. */
  calls: number;
  /** While true, changes are not announced, as if Redis lost the version. */
  announcementsDisabled: boolean;
  /** While true, every call returns 503. */
  down: boolean;
  /** Holds the next response, with the data at the time of the call, until it is released. */
  holdNext(): HeldResponse;
  /** Changes one workspace's data and announces the version. */
  change(workspaceId: number, change: (data: WorkspaceData) => void): Promise<number>;
  stop(): Promise<void>;
}

export interface HeldResponse {
  /** Resolves when the call has arrived and its response is fixed. */
  asked: Promise<void>;
  release(): void;
}

const TIERS = ['t0', 't1', 't2', 't3'].map((key, order) => ({ key, label: key, order, is_default: key === 't2' }));

export async function startOwners(versions: Versions): Promise<FakeOwners> {
  const workspaces = new Map<number, WorkspaceData>();
  const dataOf = (id: number): WorkspaceData => {
    const data = workspaces.get(id) ?? { version: 0, users: [], teams: [], services: [], tiers: TIERS, fields: [] };
    workspaces.set(id, data);
    return data;
  };
  const announce = async (id: number, version: number) => {
    await versions.raise('catalog', id, version);
    await versions.raise('custom_field', id, version);
  };
  let held: (() => Promise<void>) | undefined;
  const handler: Parameters<typeof createServer>[1] = (request, response) => {
    fake.calls += 1;
    const url = new URL(request.url ?? '/', 'http://localhost');
    const id = Number(url.searchParams.get('workspace_id'));
    const data = dataOf(id);
    response.statusCode = fake.down ? 503 : 200;
    const answer = JSON.stringify(data);
    const wait = held?.() ?? Promise.resolve();
    held = undefined;
    void announce(id, data.version)
      .then(async () => wait)
      .then(() => response.end(answer));
  };
  const server = await listen(handler, { host: '127.0.0.1', port: 0 });
  const fake: FakeOwners = {
    url: server.url,
    calls: 0,
    announcementsDisabled: false,
    down: false,
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
    stop: server.close,
  };
  return fake;
}
