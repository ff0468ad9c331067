import { z } from 'zod';
import { timelineEvent } from './timeline-wire.ts';
import { id, incident, text } from './wire.ts';

const expected_revision = id.optional().meta({ description: 'Refused with 412 when it is no longer current' });
const note = text(10_000).optional().meta({ description: 'Becomes a timeline event unless it is blank' });

export const resolution = z.strictObject({ resolution_note: note, expected_revision });
export const closure = z.strictObject({ close_note: note, expected_revision });
export const reopening = z.strictObject({ reopen_note: note, expected_revision });
export const archiving = z.strictObject({ expected_revision });

/** After a lifecycle operation: the whole incident, and its note's event if there was a note. */
export const transitionReply = z.strictObject({ incident, timeline_event: timelineEvent.optional() });
