import { incidentCounters } from '../../../services/incident/src/administration.ts';
import { type Check, type CheckContext, count, type Finding, note, ok, problem, workspaceBatches } from './check.ts';

const BATCH = 1_000;

/**
 * Compares the counters of incident numbers with the incidents, and with the numbers that webhooks were active for: after
 * the incident service's database was restored to an earlier moment, numbers would be given out again, and webhooks
 * would ignore them.
 */
export const NUMBER_CHECK: Check = {
  name: 'numbers',
  run: async (context) => {
    const findings: Finding[] = [];
    let checked = 0;
    for await (const workspaces of workspaceBatches(context, BATCH)) {
      if (context.isOver())
        return [...findings, note(`compared ${count(checked, 'workspace')} only, for lack of time`)];
      const ids = workspaces.map(({ id }) => id);
      checked += ids.length;
      findings.push(...(await compareNumbers(context, ids)));
    }
    return findings.length === 0 ? [ok(`the incident numbers of ${count(checked, 'workspace')} continue`)] : findings;
  },
};

async function compareNumbers({ database }: CheckContext, ids: readonly number[]): Promise<Finding[]> {
  const counters = incidentCounters(database('incident'));
  const { rows: bounds } = await database('webhook').raw<{ rows: { workspace_id: number; number: number }[] }>(
    `select s.workspace_id, max(greatest(coalesce(a.after_number, 0), coalesce(a.until_number, 0))) as number
     from subscriptions s join activity a on a.workspace_id = s.workspace_id and a.subscription_id = s.id
     where s.workspace_id = any(?::bigint[]) group by 1`,
    [[...ids]],
  );
  const late = await counters.findLate(ids);
  // After the webhooks': a counter that is read later can only be higher.
  const last = await counters.lastNumbers(ids);
  return [
    ...late.map(({ workspaceId, last: stored, highest }) =>
      problem(`workspace ${workspaceId}: the last number is ${stored}, and there is INC-${highest}`, async () => {
        await counters.raise(workspaceId, highest);
        return `workspace ${workspaceId}: numbers continue after INC-${highest}`;
      }),
    ),
    ...bounds
      .filter(({ workspace_id, number }) => number > (last.get(workspace_id) ?? 0))
      .map(({ workspace_id: workspaceId, number }) =>
        problem(
          `workspace ${workspaceId}: the last number is ${last.get(workspaceId) ?? 0}, and webhooks know INC-${number}: was the database of incident restored to an earlier moment?`,
          async () => {
            await counters.raise(workspaceId, number);
            return `workspace ${workspaceId}: numbers continue after INC-${number}`;
          },
        ),
      ),
  ];
}
