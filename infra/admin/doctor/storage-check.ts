import { incidentCounters } from '../../../services/incident/src/administration.ts';
import { type Check, count, note, ok, problem, some } from './check.ts';

const BATCH = 1_000;

/** Looks for workspaces whose stored bytes, which their quotas limit, are not measured. */
export const STORAGE_CHECK: Check = {
  name: 'storage',
  run: async ({ database, isOver }) => {
    const counters = incidentCounters(database('incident'));
    const unmeasured: number[] = [];
    let checked = 0;
    for (let after = 0; ;) {
      const rows = await database('incident')('incident_counters')
        .where('workspace_id', '>', after)
        .orderBy('workspace_id')
        .limit(BATCH)
        .select<{ workspace_id: number }[]>('workspace_id');
      checked += rows.length;
      unmeasured.push(...(await counters.findUnmeasured(rows.map((row) => row.workspace_id))));
      after = rows.at(-1)?.workspace_id ?? 0;
      if (rows.length < BATCH) break;
      if (isOver()) return [note(`looked at ${count(checked, 'workspace')} only, for lack of time`)];
    }
    if (unmeasured.length === 0) return [ok(`the bytes of ${count(checked, 'workspace')} are counted`)];
    return [
      problem(
        `the bytes of the workspaces ${some(unmeasured)} are not measured: does the incident service run?`,
        async () => {
          for (const id of unmeasured) await counters.measureAgain(id);
          return `the incident service measures ${count(unmeasured.length, 'workspace')} again`;
        },
      ),
    ];
  },
};
