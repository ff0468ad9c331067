import { type Cursors, type CursorScope, invalid, type Position } from '@tocsin/http';
import { isLegacyCompatible } from '../domain/list-filters.ts';
import type { ListSort } from '../domain/list-sort.ts';
import type { ListQuestion } from '../store/list/question.ts';
import { type ListPlace, stepsOf } from '../store/list/read-page.ts';
import type { Key } from '../store/list/steps.ts';
import { readLegacyCursor } from './legacy-cursor.ts';

export const positionOf = ({ step, tie, keys }: ListPlace): Position => [step, tie, ...keys];

/** Where a page begins. @throws DomainError `invalid_request` for a cursor of something else */
export function placeOf(
  cursor: string,
  of: { cursors: Cursors; scope: CursorScope; question: ListQuestion; sort: ListSort },
): ListPlace {
  const legacy = readLegacyCursor(cursor);
  if (legacy !== undefined) {
    if (takesLegacyCursors(of)) return { step: 0, tie: legacy.id, keys: [legacy.at] };
    throw invalid('cursor', 'A cursor of this form takes the default order, and only the filters that it knew');
  }
  const [step, tie, ...keys] = of.cursors.decode(cursor, of.scope) as [number, number, ...Key[]];
  // Signed, but perhaps by an older version of ours, or before the configuration changed.
  if (stepsOf(of.question)[step]?.keys !== keys.length) throw invalid('cursor', 'The cursor is out of date');
  return { step, tie, keys };
}

const takesLegacyCursors = ({
  question: { archived, filters, custom },
  sort,
}: {
  question: ListQuestion;
  sort: ListSort;
}) =>
  !archived &&
  custom.length === 0 &&
  sort.key === 'created_at' &&
  sort.direction === 'desc' &&
  isLegacyCompatible(filters);
