import {
  type Check,
  type CheckContext,
  type CheckedWorkspace,
  count,
  type Finding,
  note,
  ok,
  problem,
  some,
  workspaceBatches,
} from './check.ts';
import { findDifferent } from './compare-rows.ts';
import { type BatchVersions, readVersions } from './read-versions.ts';
import { pullReplicas, resetReplicas } from './repair-replicas.ts';
import { OWNER_APPS, type Replica, type ReplicaOwner, REPLICAS } from './replicas.ts';

const BATCH = 100;
/** Milliseconds that a replica may be behind although its workspace is used. */
const MAX_DELAY = 15 * 60_000;
/** Workspaces whose data are looked for in the gateway. */
const MAX_LISTED = 100_000;

/**
 * Compares the replicas with their owners. A replica that is ahead of its owner shows that the owner's database was
 * restored to an earlier moment: it would ignore all changes until the owner has counted as far.
 */
export const REPLICA_CHECK: Check = {
  name: 'replicas',
  run: async (context) => {
    const findings = await findUnknownWorkspaces(context);
    let checked = 0;
    let redis: Finding | undefined;
    for await (const workspaces of workspaceBatches(context, BATCH)) {
      if (context.isOver()) return summarise(findings, { checked, redis, isComplete: false });
      const ids = workspaces.map(({ id }) => id);
      const versions = await readVersions(context, ids);
      redis ??= versions.redis;
      findings.push(...(await compareBatch(context, workspaces, versions)));
      checked += workspaces.length;
    }
    return summarise(findings, { checked, redis, isComplete: true });
  },
};

function summarise(
  findings: Finding[],
  { checked, redis, isComplete }: { checked: number; redis: Finding | undefined; isComplete: boolean },
): Finding[] {
  const extent = count(checked, 'workspace');
  const all = [...findings, ...(redis === undefined ? [] : [redis])];
  if (!isComplete) all.push(note(`compared the replicas of ${extent} only, for lack of time`));
  return findings.some(({ status }) => status === 'problem')
    ? all
    : [ok(`the replicas of ${extent} are at most as new as their owners, and equal where they are as new`), ...all];
}

/** What must be done for one owner's data of one workspace. */
type Repairs = Map<ReplicaOwner, string>;

async function compareBatch(
  context: CheckContext,
  workspaces: readonly CheckedWorkspace[],
  versions: BatchVersions,
): Promise<Finding[]> {
  const different = await findStillDifferent(context, workspaces, versions);
  const findings: Finding[] = [];
  for (const workspace of workspaces) {
    const repairs: Repairs = new Map();
    for (const owner of Object.keys(OWNER_APPS) as ReplicaOwner[]) {
      const seen = versions.seen.get(owner)?.get(workspace.id) ?? 0;
      const version = versions.owners.get(owner)?.get(workspace.id)?.version ?? 0;
      if (seen > version) repairs.set(owner, `is at version ${version}, and version ${seen} is known elsewhere`);
    }
    for (const { holder, owner } of different.get(workspace.id) ?? []) {
      if (!repairs.has(owner)) repairs.set(owner, `differs from its replica in ${holder} at the same version`);
    }
    for (const [owner, what] of repairs) findings.push(lostChanges(context, { workspace, owner, what, versions }));
    findings.push(...(await findStale(context, { workspace, versions, repairs })));
  }
  return findings;
}

function lostChanges(
  context: CheckContext,
  options: { workspace: CheckedWorkspace; owner: ReplicaOwner; what: string; versions: BatchVersions },
): Finding {
  const { workspace, owner, what, versions } = options;
  const app = OWNER_APPS[owner];
  return problem(
    `${workspace.slug}: the data of ${app} ${what}: was its database restored to an earlier moment?`,
    async () => {
      const seen = versions.seen.get(owner)?.get(workspace.id) ?? 0;
      const version = await resetReplicas(context, { workspace, owner, seen });
      return `${workspace.slug}: the data of ${app} have version ${version}, are published again, and its replicas are equal`;
    },
  );
}

/** The replicas of each workspace that differ from their owners although they have the same version. */
async function findStillDifferent(
  context: CheckContext,
  workspaces: readonly CheckedWorkspace[],
  versions: BatchVersions,
): Promise<Map<number, Replica[]>> {
  const different = new Map<number, Replica[]>();
  const ids = workspaces.map(({ id }) => id);
  for (const replica of REPLICAS) {
    const equal = sameVersion(versions, replica, ids);
    if (equal.length === 0) continue;
    const suspects = await findDifferent(context, replica, equal);
    if (suspects.length === 0) continue;
    // A change may have come between the two reads: then the versions are others now.
    const again = await readVersions(context, suspects);
    const unchanged = sameVersion(again, replica, suspects).filter(
      (id) => versionOf(versions, replica, id) === versionOf(again, replica, id),
    );
    for (const id of await findDifferent(context, replica, unchanged)) {
      different.set(id, [...(different.get(id) ?? []), replica]);
    }
  }
  return different;
}

const sameVersion = (versions: BatchVersions, replica: Replica, ids: readonly number[]) =>
  ids.filter((id) => {
    const state = versions.replicas.get(replica)?.get(id);
    return state?.isComplete === true && state.version === versionOf(versions, replica, id);
  });

/** Of the owner. */
const versionOf = (versions: BatchVersions, { owner }: Replica, id: number) =>
  versions.owners.get(owner)?.get(id)?.version;

/** Replicas that lack changes for long. The next request of the workspace fetches them, so a used workspace has none. */
async function findStale(
  context: CheckContext,
  { workspace, versions, repairs }: { workspace: CheckedWorkspace; versions: BatchVersions; repairs: Repairs },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [{ holder, owner }, states] of versions.replicas) {
    const replica = states.get(workspace.id);
    const owned = versions.owners.get(owner)?.get(workspace.id);
    if (replica === undefined || owned === undefined || repairs.has(owner)) continue;
    if (replica.version >= owned.version && replica.isComplete) continue;
    const since = Date.parse(owned.changedAt);
    if (Date.now() - since < MAX_DELAY) continue;
    const message = `${workspace.slug}: the replica of ${OWNER_APPS[owner]} in ${holder} has version ${replica.version} of ${owned.version}`;
    const repair = async () => {
      await pullReplicas(context, { workspaceId: workspace.id, owner });
      return `${workspace.slug}: the replica of ${OWNER_APPS[owner]} in ${holder} is complete`;
    };
    const lastUse = holder === 'incident' ? await lastIncidentAt(context, workspace.id) : undefined;
    findings.push(
      lastUse !== undefined && lastUse - since > MAX_DELAY
        ? problem(
            `${message} since ${owned.changedAt}, although incidents were created later: see the log of ${holder}`,
            repair,
          )
        : { ...note(`${message}; its next request fetches the rest`), repair },
    );
  }
  return findings;
}

async function lastIncidentAt({ database }: CheckContext, workspaceId: number): Promise<number | undefined> {
  const row = await database('incident')('incidents')
    .where({ workspace_id: workspaceId })
    .whereNull('archived_at')
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .first<{ created_at: string } | undefined>('created_at');
  return row && Date.parse(row.created_at);
}

/** Workspaces that have data in a service and that the gateway does not know. */
async function findUnknownWorkspaces({ database }: CheckContext): Promise<Finding[]> {
  const holders: [name: string, ids: number[]][] = [];
  for (const [app, table] of [
    ['incident', 'incident_counters'],
    ['catalog', 'workspace_versions'],
    ['custom-field', 'workspace_versions'],
  ] as const) {
    const rows = await database(app)(table)
      .orderBy('workspace_id')
      .limit(MAX_LISTED)
      .select<{ workspace_id: number }[]>('workspace_id');
    holders.push([app, rows.map((row) => row.workspace_id)]);
  }
  // Afterwards, so that a workspace that has just been created is not unknown.
  const known = await database('gateway')('workspaces').orderBy('id').limit(MAX_LISTED).select<{ id: number }[]>('id');
  const highest = known.length === MAX_LISTED ? (known.at(-1)?.id ?? 0) : Infinity;
  const knownIds = new Set(known.map(({ id }) => id));
  return holders.flatMap(([app, ids]) => {
    const unknown = ids.filter((id) => id <= highest && !knownIds.has(id));
    if (unknown.length === 0) return [];
    return [
      problem(
        `${app} has data of workspaces that the gateway does not have (${some(unknown)}): restore all databases to one moment`,
      ),
    ];
  });
}
