import { APP_NAMES } from '../installation/apps.ts';
import { UsageError } from '../cli/src/operation-parameters.ts';
import { deleteRows } from './delete-rows.ts';
import { withDoctorRedis } from './doctor/redis.ts';
import { OWNERS } from './doctor/replicas.ts';
import type { Target } from './target.ts';

/**
 * Deletes all that an installation has of a workspace, the row of the workspace last (contract: Deleting a workspace). The
 * gateway remembers that it has begun, so after a crash the same command goes on. Nobody gets in meanwhile.
 * @throws UsageError if Redis cannot be reached
 */
export async function deleteWorkspace(target: Target, slug: string): Promise<{ id: number; rows: number }> {
  const { gateway, database, print } = target;
  const id = await gateway.beginWorkspaceDeletion(slug);
  let rows = 0;
  // The gateway knows the workspace until all others have forgotten it.
  for (const app of [...APP_NAMES].sort((a, b) => Number(a === 'gateway') - Number(b === 'gateway'))) {
    const deleted = await deleteRows(database(app), id);
    print(`${app}: ${deleted} rows`);
    rows += deleted;
  }
  const outcome = await withDoctorRedis(target, async (redis) =>
    redis.del(OWNERS.map((owner) => `version:${owner.as}:${id}`)),
  );
  if (outcome.kind === 'failed') throw new UsageError(outcome.finding.message);
  await gateway.endWorkspaceDeletion(id);
  return { id, rows };
}
