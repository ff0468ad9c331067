import type { Instant } from '@tocsin/runtime';
import { fold } from './fold.ts';

/**
 * What a timeline is asked for, in the one form that all spellings of the same question have: texts folded, lists sorted
 * and without duplicates, defaults spelled out. Cursors belong to it.
 */
export interface TimelineFilters {
  order: 'asc' | 'desc';
  /** Null: any. `ai` stands for everything that AI has made. */
  typeOrSource: string | null;
  /** Any of them; none means any event. */
  tags: readonly string[];
  keyOnly: boolean;
  /** Any of these groups, or of no group; none of both means any event. */
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

/** The word that stands among group IDs for "in no group". */
export const UNGROUPED = 'ungrouped';

export interface Asked {
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

export function timelineFilters(asked: Asked): TimelineFilters {
  const { groups = [], tags = [] } = asked;
  const ids = groups.filter((group) => group !== UNGROUPED).map(Number);
  return {
    order: asked.order ?? 'asc',
    typeOrSource: fold(asked.typeOrSource?.trim() ?? '') || null,
    tags: [...new Set(tags.map(fold))].sort(),
    keyOnly: asked.keyOnly === true,
    groups: [...new Set(ids)].sort((a, b) => a - b),
    ungrouped: groups.includes(UNGROUPED),
    text: fold(asked.text ?? '') || null,
    suggestions: asked.suggestions ?? 'include',
    startedFrom: asked.startedFrom ?? null,
    startedTo: asked.startedTo ?? null,
  };
}

/** Whether nothing but time is filtered by, in ascending order: all that the cursors of old were made for. */
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
