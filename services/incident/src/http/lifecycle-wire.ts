import { boundedText } from '@tocsin/contracts';
import { z } from 'zod';
import { timelineEvent } from './timeline-wire.ts';
import { id, incident } from './wire.ts';

const expected_revision = id
  .optional()
  .meta({ description: 'The request fails with 412 if this is not the current revision' });
const note = boundedText(10_000).optional().meta({ description: 'Becomes a timeline event unless it is blank' });

export const resolveRequest = z.strictObject({ resolution_note: note, expected_revision });
export const closeRequest = z.strictObject({ close_note: note, expected_revision });
export const reopenRequest = z.strictObject({ reopen_note: note, expected_revision });
export const archiveRequest = z.strictObject({ expected_revision });

/** The incident after a lifecycle operation, and the event of its note if there is one. */
export const transitionReply = z.strictObject({ incident, timeline_event: timelineEvent.optional() });
