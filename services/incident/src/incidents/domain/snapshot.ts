import type { IncidentReference, PublishedIncident } from '@tocsin/schemas';
import { humanId, type Incident } from './incident.ts';
import { type EventValueOf, PUBLISHED, type Published, type WireName } from './property-sets.ts';

type Snapshot = { [Each in Published as WireName<Each>]: EventValueOf<Each> };

/** To overwrite the values of a copy takes less time than to add one property after the other. */
const BLANK: Partial<Record<WireName<Published>, unknown>> = Object.fromEntries(
  PUBLISHED.map(({ name }) => [name, null]),
);

/** Returns an incident as events contain it (contract: Events on the broker). */
export function incidentSnapshot(incident: Incident): PublishedIncident {
  const snapshot = { ...BLANK };
  for (const { property, name, toEvent } of PUBLISHED) {
    snapshot[name] = toEvent === undefined ? incident[property] : toEvent(incident[property] as never);
  }
  return Object.assign(snapshot as Snapshot, { reference: humanId(incident.number) });
}

export const incidentReference = ({ id, number, revision }: Incident): IncidentReference => ({
  id,
  reference: humanId(number),
  revision,
});
