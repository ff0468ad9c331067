import { type Instant, ownProperty } from '@tocsin/runtime';
import type { Patchable, Stored, ValueOf } from './property-sets.ts';

/** An incident (contract: Incidents). */
export type Incident = { [Each in Stored]: ValueOf<Each> };

/** The properties that a client sets, at creation and, except `shortTitle`, by PATCH. */
export type IncidentProperties = Pick<Incident, Patchable | 'shortTitle'>;

/** An incident before the database assigns its ID and number. */
export type UnnumberedIncident = Omit<Incident, 'id' | 'number'>;

/** Returns the custom-field value of a slug, null if unset. */
export const getValue = (values: Readonly<Record<string, unknown>>, slug: string): unknown =>
  ownProperty(values, slug) ?? null;

/** The permanent reference for users. */
export const humanId = (number: number | string) => `INC-${number}`;

/** Returns the number in a reference, case-insensitive; `undefined` for an invalid reference. */
export function numberOf(reference: string): number | undefined {
  const digits = /^inc-([1-9]\d{0,15})$/i.exec(reference)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * Returns where the duration of an incident begins: at the start of impact, else the first report, else the creation.
 */
export const durationAnchor = ({ impactStartedAt, firstReportedAt }: Incident): ValueOf<'durationAnchor'> =>
  impactStartedAt !== null ? 'impact_started_at' : firstReportedAt !== null ? 'first_reported_at' : 'created_at';

/** Returns the duration in whole seconds, never negative. It ends at the recovery, else the end, else `now`. */
export function durationSeconds(
  incident: Pick<Incident, 'impactStartedAt' | 'firstReportedAt' | 'createdAt' | 'recoveredAt' | 'endedAt'>,
  now: Instant,
): number {
  const from = incident.impactStartedAt ?? incident.firstReportedAt ?? incident.createdAt;
  const to = incident.recoveredAt ?? incident.endedAt ?? now;
  return Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 1_000));
}
