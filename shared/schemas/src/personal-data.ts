import { z } from 'zod';
import { eventWorkspace } from './envelope.ts';

const id = z.int().min(1);

/** How far a walk over the tables of a schema has come: all rows up to this key of a table. */
const dataPosition = z.object({ table: z.string().max(64), after: z.array(z.string().max(1_000)).max(8) });

/** Asks a service for a step of a walk over what it keeps about a person. */
export const personalDataRequest = z.strictObject({
  workspace: eventWorkspace,
  user_id: id,
  /** Names and addresses that the person has, or had. */
  names: z.array(z.string().max(1_000)).max(1_000),
  /** In lower case. */
  emails: z.array(z.string().max(1_000)).max(1_000),
  /** The version of the workspace that the replicas must have; 0: any. */
  version: z.int().min(0),
  /** Null: the beginning. */
  position: dataPosition.nullable(),
});

/** A text that contains the name or the address of a person. */
export const dataPlace = z.strictObject({
  kind: z.string().meta({ description: 'What has the text, such as `timeline_event`' }),
  id: z.string().meta({ description: 'Its ID' }),
  incident_id: id.nullable().meta({ description: 'ID of the incident that it belongs to; null: none' }),
  property: z.string().meta({ description: 'The property with the text' }),
});

/** With `next` null, the walk has ended; `isReady` false: it cannot begin yet. */
export const erasureStep = z.object({
  isReady: z.boolean(),
  next: dataPosition.nullable(),
  places: z.array(dataPlace),
});

/** A row that has something of a person, as it is stored. */
const dataRow = z.object({ table: z.string(), row: z.record(z.string(), z.unknown()) });

export const dataStep = z.object({ next: dataPosition.nullable(), rows: z.array(dataRow) });

export type DataPosition = z.infer<typeof dataPosition>;
export type PersonalDataRequest = z.infer<typeof personalDataRequest>;
export type DataPlace = z.infer<typeof dataPlace>;
export type ErasureStep = z.infer<typeof erasureStep>;
export type DataStep = z.infer<typeof dataStep>;
