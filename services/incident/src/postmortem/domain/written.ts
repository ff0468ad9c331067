import type { RecordedKey } from '@tocsin/schemas';
import {
  isPlaceholder,
  MAX_SECTION_TITLE,
  MAX_SECTIONS,
  PLACEHOLDER,
  type Placeholder,
} from '@tocsin/schemas/postmortem-template';
import { jsonEqual } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { MAX_REPETITIONS } from '../../configuration/domain/postmortem-template.ts';
import type { POSTMORTEM_STATES } from '../../incidents/domain/incident-properties.ts';

export type PostmortemState = (typeof POSTMORTEM_STATES)[number];

/** Of sections: their number, the lengths of texts, the bytes of a body, and of JSON of all; former versions. */
export const WRITTEN_LIMITS = {
  ...{ sections: MAX_SECTIONS, key: 64, title: MAX_SECTION_TITLE, bodyBytes: 65_536, bytes: 524_288, former: 200 },
} as const;

/** A part of a post-mortem under a heading; empty: without one. */
export interface Section {
  key: string;
  title: string;
  /** The Markdown of notes, with placeholders of templates. */
  body: string;
}

/** The post-mortem of an incident as people have written it (contract: Post-mortems). */
export interface WrittenPostmortem {
  incidentId: number;
  revision: number;
  state: PostmortemState;
  sections: readonly Section[];
  /** That it began from; empty: the built-in one. */
  template: string;
  createdAt: Instant;
  createdBy: string;
  createdByKey: RecordedKey | null;
  updatedAt: Instant;
  updatedBy: string;
  updatedByKey: RecordedKey | null;
  /** Null while it is a draft. */
  inReviewAt: Instant | null;
  inReviewBy: string | null;
  /** Null unless it is published. */
  publishedAt: Instant | null;
  publishedBy: string | null;
}

/** Who changes it, and when. */
export interface Edit {
  now: Instant;
  actor: string;
  key: RecordedKey | null;
}

export const newPostmortem = (
  given: Pick<WrittenPostmortem, 'incidentId' | 'sections' | 'template'>,
  { now, actor, key }: Edit,
): WrittenPostmortem => ({
  ...{ ...given, revision: 1, state: 'draft' },
  ...{ createdAt: now, createdBy: actor, createdByKey: key },
  ...{ updatedAt: now, updatedBy: actor, updatedByKey: key },
  ...{ inReviewAt: null, inReviewBy: null, publishedAt: null, publishedBy: null },
});

/** Returns the post-mortem after a change; the same object if it changes nothing. */
export function changePostmortem(
  before: WrittenPostmortem,
  { state = before.state, sections = before.sections }: Partial<Pick<WrittenPostmortem, 'state' | 'sections'>>,
  { now, actor, key }: Edit,
): WrittenPostmortem {
  if (state === before.state && jsonEqual(sections, before.sections)) return before;
  return {
    ...{ ...before, state, sections, ...stepsOf(before, state, { now, actor }) },
    ...{ revision: before.revision + 1, updatedAt: now, updatedBy: actor, updatedByKey: key },
  };
}

/** Who has put it into review and published it. A draft has neither, and what was reviewed stays so when it is published. */
function stepsOf(
  { state: was }: WrittenPostmortem,
  state: PostmortemState,
  { now, actor }: Pick<Edit, 'now' | 'actor'>,
): Partial<WrittenPostmortem> {
  if (state === was) return {};
  if (state === 'published') return { publishedAt: now, publishedBy: actor };
  const isInReview = state === 'in_review';
  return {
    ...{ inReviewAt: isInReview ? now : null, inReviewBy: isInReview ? actor : null },
    ...{ publishedAt: null, publishedBy: null },
  };
}

/** Returns the placeholder that stands in sections too often. */
export function repeatedPlaceholder(sections: readonly Section[]): Placeholder | undefined {
  const counts = new Map<Placeholder, number>();
  for (const [, name = ''] of sections.flatMap(({ title, body }) => [...`${title}\n${body}`.matchAll(PLACEHOLDER)]))
    if (isPlaceholder(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].find(([, count]) => count > MAX_REPETITIONS)?.[0];
}
