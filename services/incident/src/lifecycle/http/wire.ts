import { boundedText } from '@tocsin/schemas';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { timelineEvent } from '../../timeline/http/wire.ts';
import { id } from '../../incidents/domain/property-kinds.ts';
import { changedIncident } from '../../incidents/http/wire.ts';

const expected_revision = id
  .optional()
  .meta({ description: 'The revision that the request is based on: 412 if it is not the current one; default: any' });
const note = boundedText(10_000).optional().meta({
  description: 'The body of a timeline event about the operation; none is created if the note is blank or absent',
});

export const resolveRequest = z.strictObject({ resolution_note: note, expected_revision });
export const closeRequest = z.strictObject({ close_note: note, expected_revision });
export const reopenRequest = z.strictObject({ reopen_note: note, expected_revision });
export const archiveRequest = z.strictObject({ expected_revision });

/** The incident after a lifecycle operation, and the event of its note if there is one. */
export const transitionReply = z.strictObject({
  incident: changedIncident,
  timeline_event: schemaReference(timelineEvent, 'The event that has the note; absent without a note').optional(),
});
