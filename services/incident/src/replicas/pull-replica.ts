import { pullPages } from '@tocsin/service-host';
import type { Knex } from '@tocsin/postgres';
import type { Owners } from './clients/owners.ts';
import { type Replicated, type ReplicaOwner, replicaStore, type ReplicaVersion } from './store/replica-store.ts';

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

/** The rows of a kind among the changes of a page. */
const rowsOf = <Kind extends keyof Replicated>(
  kind: Kind,
  changes: readonly ({ version: number } & Partial<Record<Kind, Replicated[Kind]>>)[],
) => changes.flatMap(({ version, [kind]: row }) => (row === undefined ? [] : [{ version, row }]));

const PAGES: Record<ReplicaOwner, FetchPage> = {
  users: async (owners, from) => {
    const { changes, ...page } = await owners.users(from);
    return { ...page, write: async (store) => store.put('user', rowsOf('user', changes)) };
  },
  custom_field: async (owners, from) => {
    const { changes, ...page } = await owners.customFields(from);
    return { ...page, write: async (store) => store.put('field', rowsOf('field', changes)) };
  },
  catalog: async (owners, from) => {
    const { changes, tiers, ...page } = await owners.catalog(from);
    return {
      ...page,
      write: async (store) => {
        await store.put('team', rowsOf('team', changes));
        await store.put('service', rowsOf('service', changes));
        // A slower pull must not replace them by older ones, which the version of a complete pull shows.
        if (page.next === null) await store.replaceTiers(tiers);
      },
    };
  },
};
