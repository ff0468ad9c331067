import { fold } from '@tocsin/contracts';
import type { Instant } from '@tocsin/runtime';

/**
 * The filters of a timeline in normalised form, so that equivalent queries share cursors: texts folded, lists sorted and
 * without duplicates, defaults filled in.
 */
export interface TimelineFilters {
  order: 'asc' | 'desc';
  /** Null: any. `ai` matches everything that AI created. */
  typeOrSource: string | null;
  /** Matches events with any of these tags; empty: any event. */
  tags: readonly string[];
  keyOnly: boolean;
  /** Matches events in any of these groups, or with `ungrouped` in none; empty without `ungrouped`: any event. */
  groups: readonly number[];
  ungrouped: boolean;
  /** Null: no search. */
  text: string | null;
  suggestions: 'include' | 'exclude' | 'only';
  /** Inclusive. */
  startedFrom: Instant | null;
  /** Exclusive. */
  startedTo: Instant | null;
}

/** The keyword for events in no group, among the IDs of groups. */
export const UNGROUPED = 'ungrouped';

export interface TimelineFilterInput {
  order?: TimelineFilters['order'] | undefined;
  typeOrSource?: string | undefined;
  tags?: readonly string[] | undefined;
  keyOnly?: boolean | undefined;
  /** IDs in decimal, and `UNGROUPED`. */
  groups?: readonly string[] | undefined;
  text?: string | undefined;
  suggestions?: TimelineFilters['suggestions'] | undefined;
  startedFrom?: Instant | undefined;
  startedTo?: Instant | undefined;
}

/** Normalises the filters of a request. */
export function timelineFilters(input: TimelineFilterInput): TimelineFilters {
  const { groups = [], tags = [] } = input;
  const ids = groups.filter((group) => group !== UNGROUPED).map(Number);
  return {
    order: input.order ?? 'asc',
    typeOrSource: fold(input.typeOrSource?.trim() ?? '') || null,
    tags: [...new Set(tags.map(fold))].sort(),
    keyOnly: input.keyOnly === true,
    groups: [...new Set(ids)].sort((a, b) => a - b),
    ungrouped: groups.includes(UNGROUPED),
    text: fold(input.text ?? '') || null,
    suggestions: input.suggestions ?? 'include',
    startedFrom: input.startedFrom ?? null,
    startedTo: input.startedTo ?? null,
  };
}

/** Whether the order is ascending and the only filters are time bounds, as cursors of the old form require. */
export function isLegacyCompatible(filters: TimelineFilters): boolean {
  const { order, typeOrSource, tags, keyOnly, groups, ungrouped, text, suggestions } = filters;
  return (
    order === 'asc' &&
    typeOrSource === null &&
    tags.length === 0 &&
    !keyOnly &&
    groups.length === 0 &&
    !ungrouped &&
    text === null &&
    suggestions === 'include'
  );
}
