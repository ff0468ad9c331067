import type { Incident } from '@tocsin/sdk';

export const LABELS = { resolve: 'Resolve', close: 'Close', reopen: 'Reopen', archive: 'Archive', restore: 'Restore' };
export type Verb = keyof typeof LABELS;

/** What can be done with an incident, the most frequent first. */
export function verbsFor({ status, archived_at: archived }: Incident, isOver: boolean): readonly Verb[] {
  if (archived !== null) return ['restore'];
  if (!isOver) return ['resolve', 'close', 'archive'];
  return ['resolved', 'closed'].includes(status) ? ['reopen', 'archive'] : ['archive'];
}
