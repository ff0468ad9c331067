import type { Incident } from '../domain/incident.ts';
import { PATCHABLE, type Patchable, type WireName } from '../domain/property-sets.ts';
import type { IncidentPatch } from './wire.ts';

/** The properties that a validated request gives, as the incident stores them. */
export function toIncidentProperties(request: IncidentPatch): Partial<Pick<Incident, Patchable>> {
  const given: Readonly<Partial<Record<WireName<Patchable>, unknown>>> = request;
  const properties: Partial<Record<Patchable, unknown>> = {};
  for (const { property, name, fromRequest } of PATCHABLE) {
    const value = given[name];
    if (value !== undefined) properties[property] = fromRequest === undefined ? value : fromRequest(value as never);
  }
  return properties as Partial<Pick<Incident, Patchable>>;
}
