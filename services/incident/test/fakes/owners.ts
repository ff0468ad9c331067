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

/** The gateway's, catalog's and custom-field service's internal answers, from lists that a test fills. */
export interface FakeOwners {
  url: string;
  /** How many times any owner was asked. */
  asked: number;
  /** While true, every question is answered with 503. */
  down: boolean;
  /** Changes one workspace's data, and announces it as the real owners do. */
  change(workspaceId: number, change: (data: WorkspaceData) => void): Promise<number>;
  stop(): Promise<void>;
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
  const handler: Parameters<typeof createServer>[1] = (request, response) => {
    fake.asked += 1;
    const url = new URL(request.url ?? '/', 'http://localhost');
    const id = Number(url.searchParams.get('workspace_id'));
    const data = dataOf(id);
    response.statusCode = fake.down ? 503 : 200;
    void announce(id, data.version).then(() => response.end(JSON.stringify(data)));
  };
  const server = await listen(handler, { host: '127.0.0.1', port: 0 });
  const fake: FakeOwners = {
    url: server.url,
    asked: 0,
    down: false,
    async change(workspaceId, change) {
      const data = dataOf(workspaceId);
      change(data);
      data.version += 1;
      await announce(workspaceId, data.version);
      return data.version;
    },
    stop: server.close,
  };
  return fake;
}
