import { parseTimestamp, timestampInput } from '@tocsin/schemas';
import type { Instant } from '@tocsin/runtime';
import { z } from 'zod';
import { POSTMORTEM_STATES } from '../../incidents/domain/incident-properties.ts';
import { sectionsInput } from '../../postmortem/http/wire.ts';
import type { ImportedPostmortem, Person } from '../domain/item.ts';
import { optional, personReference } from './person.ts';

const moment = (description: string) => timestampInput.meta({ description });
const step = (what: string) => optional(timestampInput.nullable(), `When it was ${what}`);
const by = (what: string) => personReference(`Who ${what}; null: nobody`).nullable().optional();

/** A written post-mortem as an import takes it (contract: Import). */
export const postmortemItem = z
  .strictObject({
    state: z.enum(POSTMORTEM_STATES).meta({ description: 'How far it is' }),
    sections: sectionsInput.meta({ description: 'Its sections, in their order' }),
    created_at: moment('When it was begun'),
    author: personReference('Who began it'),
    updated_at: moment('When it last changed'),
    updated_by: personReference('Who changed it'),
    in_review_at: step('put into review, not allowed with `draft`; null: never'),
    in_review_by: by('put it into review'),
    published_at: step('published, only allowed with `published`; default: updated_at'),
    published_by: by('published it'),
  })
  .meta({ id: 'ImportedPostmortem' });

const instantOf = (text: string): Instant => parseTimestamp(text) as Instant;

export function toPostmortem(
  wire: z.infer<typeof postmortemItem>,
  toPerson: (person: Person) => Person,
): ImportedPostmortem {
  return {
    state: wire.state,
    sections: wire.sections,
    createdAt: instantOf(wire.created_at),
    author: toPerson(wire.author),
    updatedAt: instantOf(wire.updated_at),
    updatedBy: toPerson(wire.updated_by),
    inReviewAt: wire.in_review_at ? instantOf(wire.in_review_at) : null,
    inReviewBy: wire.in_review_by ? toPerson(wire.in_review_by) : null,
    publishedAt: wire.published_at ? instantOf(wire.published_at) : null,
    publishedBy: wire.published_by ? toPerson(wire.published_by) : null,
  };
}
