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
import { readReplicas } from './read-replicas.ts';
import { WITH_WORKSPACES } from './replicas.ts';

const BATCH = 100;
/** Workspaces whose data are looked for in the gateway. */
const MAX_LISTED = 100_000;

/**
 * Compares the versions and the numbers of rows of the replicas with those of their owners. A replica that is ahead of its
 * owner shows that the owner's database was restored to an earlier moment: it would ignore all changes until the owner has
 * counted as far.
 */
export const REPLICA_CHECK: Check = {
  name: 'replicas',
  run: async (context) => {
    const findings = await findUnknownWorkspaces(context);
    const others = new Map<string, Finding>();
    let checked = 0;
    for await (const workspaces of workspaceBatches(context, BATCH)) {
      if (context.isOver()) {
        const message = `compared the replicas of ${count(checked, 'workspace')} only, for lack of time`;
        others.set(message, note(message));
        break;
      }
      const { problems, redis } = await compare(context, workspaces);
      if (redis !== undefined) others.set(redis.message, redis);
      // A change may have come between the reads: then the versions are others now.
      const again = problems.length === 0 ? [] : (await compare(context, workspaces)).problems;
      findings.push(...problems.filter((text) => again.includes(text)).map((text) => problem(text)));
      checked += workspaces.length;
    }
    if (findings.length === 0) {
      const extent = count(checked, 'workspace');
      findings.push(
        ok(`the replicas of ${extent} are at most as new as their owners, and of equal size where they are as new`),
      );
    }
    return [...findings, ...others.values()];
  },
};

async function compare(
  context: CheckContext,
  workspaces: readonly CheckedWorkspace[],
): Promise<{ problems: string[]; redis: Finding | undefined }> {
  const slugs = new Map(workspaces.map(({ id, slug }) => [id, slug]));
  const { states, redis } = await readReplicas(context, [...slugs.keys()]);
  const problems: string[] = [];
  for (const { owner, workspaceId, version, rows, seen, copies } of states) {
    const different = copies.find((copy) => copy.version === version && copy.rows !== rows);
    if (seen <= version && different === undefined) continue;
    const [slug, { app }] = [slugs.get(workspaceId), owner];
    const what =
      seen > version
        ? `is at version ${version}, and version ${seen} is known elsewhere`
        : `differs from its replica in ${different?.holder} at the version ${version}`;
    problems.push(
      `${slug}: the data of ${app} ${what}: was its database restored to an earlier moment? Run replicas rebuild --workspace ${slug} --owner ${app}`,
    );
  }
  return { problems, redis };
}

/** Workspaces that have data in a service and that the gateway does not know. */
async function findUnknownWorkspaces({ database }: CheckContext): Promise<Finding[]> {
  const holders = new Map<string, ReadonlySet<number>>();
  for (const { app, table } of WITH_WORKSPACES) {
    const rows = await database(app)(table)
      .orderBy('workspace_id')
      .limit(MAX_LISTED)
      .distinct<{ workspace_id: number }[]>('workspace_id');
    holders.set(app, new Set([...(holders.get(app) ?? []), ...rows.map((row) => row.workspace_id)]));
  }
  // Afterwards, so that a workspace that has just been created is not unknown.
  const workspaces = await database('gateway')('workspaces')
    .orderBy('id')
    .limit(MAX_LISTED)
    .select<{ id: number }[]>('id');
  const highest = workspaces.length === MAX_LISTED ? (workspaces.at(-1)?.id ?? 0) : Infinity;
  const knownIds = new Set(workspaces.map(({ id }) => id));
  const deleted = await database('gateway')('deleted_workspaces').select<{ id: number; slug: string }[]>(
    'workspace_id as id',
    'slug',
  );
  const slugs = new Map(deleted.map(({ id, slug }) => [id, slug]));
  return [...holders].flatMap(([app, ids]) => {
    const unknown = [...ids].filter((id) => id <= highest && !knownIds.has(id));
    if (unknown.length === 0) return [];
    const left = unknown.flatMap((id) => slugs.get(id) ?? []);
    if (left.length === unknown.length)
      return [problem(`${app} has data of deleted workspaces: run workspace delete again for ${some(left)}`)];
    return [
      problem(
        `${app} has data of workspaces that the gateway does not have (${some(unknown)}): restore all databases to one moment`,
      ),
    ];
  });
}
