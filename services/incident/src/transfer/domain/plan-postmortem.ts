import { invalidRequest, jsonEqual } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { Change } from '../../incidents/domain/changes.ts';
import type { WrittenPostmortem } from '../../postmortem/domain/written.ts';
import type { ImportedPostmortem, Person } from './item.ts';

/** A written post-mortem whose people are resolved. */
export type PreparedPostmortem = Omit<
  WrittenPostmortem,
  'incidentId' | 'revision' | 'template' | 'createdByKey' | 'updatedByKey'
>;

/** @throws DomainError `invalid_request` */
export function preparePostmortem(
  { author, updatedBy, inReviewBy, publishedBy, ...given }: ImportedPostmortem,
  { now, textOf }: { now: Instant; textOf: (person: Person) => string },
): PreparedPostmortem {
  const { state, createdAt, updatedAt, inReviewAt, publishedAt } = given;
  const at = (name: string) => `postmortem.${name}`;
  const moments = { created_at: createdAt, updated_at: updatedAt, in_review_at: inReviewAt, published_at: publishedAt };
  for (const [name, moment] of Object.entries(moments))
    if (moment !== null && moment > now) throw invalidRequest(at(name), 'Must not be in the future');
  const isDraft = state === 'draft';
  const isPublished = state === 'published';
  if (isDraft && (inReviewAt ?? inReviewBy) !== null)
    throw invalidRequest(at('in_review_at'), 'Is only allowed with the states in_review and published');
  if (!isPublished && (publishedAt ?? publishedBy) !== null)
    throw invalidRequest(at('published_at'), 'Is only allowed with the state published');
  const reviewed = state === 'in_review' ? { at: updatedAt, by: updatedBy } : { at: null, by: null };
  const textIf = (person: Person | null) => person && textOf(person);
  return {
    ...given,
    createdBy: textOf(author),
    updatedBy: textOf(updatedBy),
    inReviewAt: inReviewAt ?? reviewed.at,
    inReviewBy: textIf(inReviewBy ?? reviewed.by),
    publishedAt: isPublished ? (publishedAt ?? updatedAt) : null,
    publishedBy: isPublished ? textOf(publishedBy ?? updatedBy) : null,
  };
}

/** Returns the post-mortem as the item makes it; `undefined` if it is so already, or the item has none. */
export function planPostmortem(
  given: PreparedPostmortem | undefined,
  stored: WrittenPostmortem | undefined,
  incidentId: number,
): WrittenPostmortem | undefined {
  if (given === undefined) return undefined;
  if (stored === undefined)
    return { ...given, incidentId, revision: 1, template: '', createdByKey: null, updatedByKey: null };
  const after = { ...stored, ...given };
  if (jsonEqual(after, stored)) return undefined;
  return { ...after, updatedByKey: null, revision: stored.revision + 1 };
}

/** What the changelog of the incident says of it. */
export const changeOfPostmortem = (after: WrittenPostmortem, before: WrittenPostmortem | undefined): Change =>
  after.state === before?.state
    ? { field: 'postmortem.revision', from: before.revision, to: after.revision }
    : { field: 'postmortem_state', from: before?.state ?? null, to: after.state };
