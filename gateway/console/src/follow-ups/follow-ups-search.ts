export const VIEWS = [
  ['mine', 'Mine'],
  ['overdue', 'Overdue'],
  ['all', 'All'],
] as const;
export const STATUSES = [
  ['open', 'Open'],
  ['done', 'Done'],
  ['dropped', 'Dropped'],
  ['any', 'Any status'],
] as const;

/** The list that somebody looks at, as the address has it: by default, what is open and theirs. */
export interface FollowUpsSearch {
  view?: (typeof VIEWS)[number][0];
  status?: (typeof STATUSES)[number][0];
  /** Its members own the follow-ups. */
  team?: number;
  q?: string;
}

/** Anybody may write an address: what it does not understand is left out. */
export function readFollowUpsSearch({ view, status, team, q }: Record<string, unknown>): FollowUpsSearch {
  const [shownView] = VIEWS.find(([key]) => key === view) ?? [];
  const [chosen] = STATUSES.find(([key]) => key === status) ?? [];
  return {
    ...(shownView && { view: shownView }),
    ...(chosen && { status: chosen }),
    ...(typeof team === 'number' && { team }),
    ...((typeof q === 'string' || typeof q === 'number') && { q: String(q) }),
  };
}
