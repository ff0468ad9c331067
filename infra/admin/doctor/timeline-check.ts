import { findWrongSummaries, recountTimeline } from '../../../services/incident/src/administration.ts';
import { type Check, count, ok, problem, some } from './check.ts';

/** Incidents that are compared, those of the newest workspaces first. */
const MAX_CHECKED = 100_000;
/** Incidents that one run repairs. */
const MAX_REPAIRED = 10_000;

/** Compares the number of timeline events and the time of the last one, which lists sort by, with the timelines. */
export const TIMELINE_CHECK: Check = {
  name: 'timelines',
  run: async ({ database, isOver }) => {
    const incident = database('incident');
    const wrong: { id: number; workspaceId: number }[] = [];
    let checked = 0;
    let before: { id: number; workspaceId: number } | undefined = {
      id: Number.MAX_SAFE_INTEGER,
      workspaceId: Number.MAX_SAFE_INTEGER,
    };
    while (before !== undefined && checked < MAX_CHECKED && wrong.length < MAX_REPAIRED && !isOver()) {
      const batch = await findWrongSummaries(incident, before);
      checked += batch.checked;
      wrong.push(...batch.wrong);
      before = batch.next;
    }
    const extent =
      before === undefined ? count(checked, 'incident') : `${count(checked, 'incident')} of the newest workspaces`;
    if (wrong.length === 0) return [ok(`the counters of ${extent} are those of their timelines`)];
    const ids = some(wrong.map(({ id }) => id));
    return [
      problem(
        `${count(wrong.length, 'incident')} of ${extent} (ID ${ids}) have wrong counters of their timelines`,
        async () => {
          for (const summary of wrong) await recountTimeline(incident, summary);
          return `counted the timelines of ${count(wrong.length, 'incident')} again`;
        },
      ),
    ];
  },
};
