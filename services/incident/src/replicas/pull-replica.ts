import { pullPages } from '@tocsin/service-host';
import type { Knex } from '@tocsin/postgres';
import type { Owners } from './clients/owners.ts';
import { type ReplicaOwner, replicaStore, type ReplicaVersion } from './store/replica-store.ts';

interface Pull {
  database: Knex;
  owners: Owners;
  owner: ReplicaOwner;
  workspace: { id: number; version: number };
  /** Stops the pull after a page; the next pull continues there. */
  signal: AbortSignal;
}

/** A page of any owner's changes, and how to store its rows. */
interface ReplicaPage {
  version: number;
  next: string | null;
  write: (store: ReturnType<typeof replicaStore>) => Promise<void>;
}

/**
 * Fetches the changes since the replica's version from their owner, page by page, each stored in a transaction of its own.
 * @returns the version of the complete replica; undefined if the signal was aborted before
 */
export async function pullReplica(pull: Pull): Promise<ReplicaVersion | undefined> {
  const { database, owners, owner, workspace, signal } = pull;
  const stored = await replicaStore(database, workspace.id).findVersion(owner);
  return pullPages({
    from: { since: stored?.version ?? 0, after: stored?.position ?? undefined },
    signal,
    fetch: async (from) => PAGES[owner](owners, { workspaceId: workspace.id, ...from }),
    apply: async (page) => applyPage(pull, { page, stored }),
  });
}

async function applyPage(
  { database, owner, workspace }: Pull,
  { page, stored }: { page: ReplicaPage; stored: ReplicaVersion | undefined },
): Promise<ReplicaVersion> {
  const isComplete = page.next === null;
  const reached: ReplicaVersion = {
    version: page.version,
    // A replica that lacks pages has not seen the workspace's changes.
    workspaceVersion: isComplete ? workspace.version : (stored?.workspaceVersion ?? 0),
    position: page.next,
  };
  // Usually nothing has changed when a refusal is confirmed; then nothing is written.
  if (stored !== undefined && isComplete && isAt(stored, reached)) return stored;
  return database.transaction(async (trx) => {
    const store = replicaStore(trx, workspace.id);
    // First, to serialize pulls of the same workspace; none waits for the network call of another.
    const advanced = await store.advance(owner, reached);
    // Otherwise a later pull was faster, and this response is out of date.
    if (advanced.version === page.version) await page.write(store);
    return advanced;
  });
}

const isAt = (stored: ReplicaVersion, reached: ReplicaVersion) =>
  stored.version === reached.version &&
  stored.workspaceVersion >= reached.workspaceVersion &&
  stored.position === reached.position;

type FetchPage = (owners: Owners, from: Parameters<Owners['catalog']>[0]) => Promise<ReplicaPage>;

const PAGES: Record<ReplicaOwner, FetchPage> = {
  users: async (owners, from) => {
    const { version, next, changes } = await owners.users(from);
    const users = changes.map((change) => ({ version: change.version, row: change.user }));
    return { version, next, write: async (store) => store.putUsers(users) };
  },
  custom_field: async (owners, from) => {
    const { version, next, changes } = await owners.customFields(from);
    const fields = changes.map((change) => ({ version: change.version, row: change.field }));
    return { version, next, write: async (store) => store.putFields(fields) };
  },
  catalog: async (owners, from) => {
    const { version, next, changes, tiers } = await owners.catalog(from);
    const teams = changes.flatMap((change) =>
      'team' in change ? [{ version: change.version, row: change.team }] : [],
    );
    const services = changes.flatMap((change) =>
      'service' in change ? [{ version: change.version, row: change.service }] : [],
    );
    return {
      version,
      next,
      write: async (store) => {
        await store.putTeams(teams);
        await store.putServices(services);
        // A slower pull must not replace them by older ones; versions tell complete pulls apart.
        if (next === null) await store.replaceTiers(tiers);
      },
    };
  },
};
