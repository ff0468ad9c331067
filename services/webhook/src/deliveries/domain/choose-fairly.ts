import type { Budget, Destination } from '../../requests/domain/limits.ts';

/**
 * Chooses what is sent next: one candidate per workspace in turn, starting after the workspace that was served last,
 * until the budget is used up. Candidates that the budget does not allow are skipped, so one destination's limit
 * delays no other.
 * @param candidates in the order in which each workspace's candidates should be served
 */
export function chooseFairly<Candidate extends Destination>(
  candidates: readonly Candidate[],
  { budget, after }: { budget: Budget; after: number },
): Candidate[] {
  const queues = Map.groupBy(candidates, ({ workspaceId }) => workspaceId);
  const workspaceIds = [...queues.keys()].sort((a, b) => Number(a <= after) - Number(b <= after) || a - b);
  const chosen: Candidate[] = [];
  for (let hasProgress = true; hasProgress;) {
    hasProgress = false;
    for (const workspaceId of workspaceIds) {
      const queue = queues.get(workspaceId) ?? [];
      const index = queue.findIndex((candidate) => budget.reachedLimit(candidate) === undefined);
      const [next] = index === -1 ? [] : queue.splice(index, 1);
      if (next === undefined) continue;
      budget.take(next);
      chosen.push(next);
      hasProgress = true;
    }
  }
  return chosen;
}
