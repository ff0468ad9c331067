import type { Budget, Destination } from './limits.ts';

/**
 * Chooses what is sent next: one of each workspace in turn, beginning after the one that was served last, for as long as
 * the budget lasts. What the budget refuses is passed over, so nobody waits behind another's limit.
 * @param candidates in the order in which a workspace wants its own served
 */
export function chooseFairly<Candidate extends Destination>(
  candidates: readonly Candidate[],
  { budget, after }: { budget: Budget; after: number },
): Candidate[] {
  const queues = Map.groupBy(candidates, ({ workspaceId }) => workspaceId);
  const ring = [...queues.keys()].sort((a, b) => Number(a <= after) - Number(b <= after) || a - b);
  const chosen: Candidate[] = [];
  for (let served = true; served;) {
    served = false;
    for (const workspaceId of ring) {
      const queue = queues.get(workspaceId) ?? [];
      const index = queue.findIndex((candidate) => budget.full(candidate) === undefined);
      const [next] = index === -1 ? [] : queue.splice(index, 1);
      if (next === undefined) continue;
      budget.take(next);
      chosen.push(next);
      served = true;
    }
  }
  return chosen;
}
