import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import {
  type InputOf,
  PATCHABLE,
  type Patchable,
  type SchemaOf,
  SHOWN,
  type Shown,
  type WireName,
} from '../domain/property-sets.ts';

/** The incident resource (contract: Incidents); every property is always present. */
export const incident = z
  .strictObject(
    Object.fromEntries(SHOWN.map(({ name, schema, description }) => [name, schema.meta({ description })])) as {
      [Each in Shown as WireName<Each>]: SchemaOf<Each>;
    },
  )
  .meta({ id: 'Incident' });

export type IncidentWire = z.infer<typeof incident>;

export const incidentReply = z.strictObject({ incident: schemaReference(incident, 'The incident as it is now') });

/** The incident in the response to a write. */
export const changedIncident = schemaReference(incident, 'The complete incident after the operation');

const { severity_mode, ...properties } = Object.fromEntries(
  PATCHABLE.map(({ name, input, description, inputDescription }) => [
    name,
    input?.optional().meta({ description: inputDescription ?? description }),
  ]),
) as { [Each in Patchable as WireName<Each>]: z.ZodOptional<InputOf<Each>> };

export const incidentPatch = z.strictObject({ ...properties, severity_mode }).meta({ id: 'IncidentPatch' });
export type IncidentPatch = z.infer<typeof incidentPatch>;
