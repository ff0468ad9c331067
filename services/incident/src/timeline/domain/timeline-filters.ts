import { ceilTimestamp, fold } from '@tocsin/schemas';
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

/** The filters of a request, by their names on the wire. Each parameter is well-formed. */
export interface TimelineParameters {
  order?: TimelineFilters['order'] | undefined;
  type_or_source?: string | undefined;
  tag?: readonly string[] | undefined;
  key_only?: boolean | undefined;
  /** IDs in decimal, and `UNGROUPED`. */
  group?: readonly string[] | undefined;
  q?: string | undefined;
  suggestions?: TimelineFilters['suggestions'] | undefined;
  started_from?: string | undefined;
  started_to?: string | undefined;
}

/** Normalises the filters of a request. */
export function timelineFilters(parameters: TimelineParameters): TimelineFilters {
  const { group = [], tag = [], started_from: from, started_to: to } = parameters;
  const ids = group.filter((each) => each !== UNGROUPED).map(Number);
  return {
    order: parameters.order ?? 'asc',
    typeOrSource: fold(parameters.type_or_source?.trim() ?? '') || null,
    tags: [...new Set(tag.map(fold))].sort(),
    keyOnly: parameters.key_only === true,
    groups: [...new Set(ids)].sort((a, b) => a - b),
    ungrouped: group.includes(UNGROUPED),
    text: fold(parameters.q ?? '') || null,
    suggestions: parameters.suggestions ?? 'include',
    startedFrom: from === undefined ? null : (ceilTimestamp(from) ?? null),
    startedTo: to === undefined ? null : (ceilTimestamp(to) ?? null),
  };
}

/** Those of the filters, in the order, that timelines had when they gave out legacy cursors. */
export const legacyFilters = ({ startedFrom, startedTo }: TimelineFilters): TimelineFilters => ({
  ...timelineFilters({}),
  startedFrom,
  startedTo,
});
