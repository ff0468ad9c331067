import type { ChangelogEntry } from '@tocsin/sdk';

export type Change = ChangelogEntry['changes'][number];

/** Milliseconds between the first and the last change of a run. */
const MAX_SPAN = 300_000;

/** Changes of events and follow-ups stand for themselves. */
const isAlone = ({ changes }: ChangelogEntry) =>
  changes.some(({ field }) => field.startsWith('timeline_events.') || field.startsWith('follow_ups.'));

const actorOf = ({ actor, api_key: key, imported }: ChangelogEntry) =>
  JSON.stringify([actor, key?.prefix ?? null, imported]);

/** Whether a change belongs to the run of changes that stands before it in the list. */
export function continuesRun(run: readonly ChangelogEntry[], next: ChangelogEntry): boolean {
  const [first] = run;
  return (
    first !== undefined &&
    !isAlone(first) &&
    !isAlone(next) &&
    actorOf(first) === actorOf(next) &&
    Math.abs(Date.parse(next.changed_at) - Date.parse(first.changed_at)) <= MAX_SPAN
  );
}

/** What comes first of what a run has changed. */
const FIRST = ['archived_at', 'status', 'severity', 'incident_manager', 'restricted'];

/** What a run has changed in all, each property once; without what is again as it was. */
export function changesOf(run: readonly ChangelogEntry[]): Change[] {
  const byField = new Map<string, Change>();
  for (const { changes } of run.toSorted((a, b) => a.id - b.id))
    for (const change of changes) {
      const before = byField.get(change.field);
      byField.set(change.field, { ...change, from: before === undefined ? change.from : before.from });
    }
  const rank = ({ field }: Change) => (FIRST.indexOf(field) + FIRST.length + 1) % (FIRST.length + 1);
  return [...byField.values()]
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to))
    .sort((a, b) => rank(a) - rank(b));
}
