import { jsonEqual } from '@tocsin/http';
import { ownProperty } from '@tocsin/runtime';
import { getValue, type Incident } from './incident.ts';
import { RECORDED } from './property-sets.ts';
import { shortenValues } from './large-value.ts';

/** The change of one property, by its name in the API. */
export interface Change {
  field: string;
  from: unknown;
  to: unknown;
}

/**
 * Returns the differences between two states of an incident: properties in the order of requests, then the holders of
 * each role, then custom-field values.
 */
export function changesBetween(before: Incident, after: Incident): Change[] {
  const properties = RECORDED.map(({ property, name }): Change => ({
    field: name,
    from: before[property],
    to: after[property],
  }));
  const roles = keysOf(before.roles, after.roles).map((key): Change => ({
    field: `roles.${key}`,
    from: ownProperty(before.roles, key) ?? [],
    to: ownProperty(after.roles, key) ?? [],
  }));
  const values = keysOf(before.customFields, after.customFields).map((slug): Change => ({
    field: `custom_fields.${slug}`,
    from: getValue(before.customFields, slug),
    to: getValue(after.customFields, slug),
  }));
  return [...properties, ...roles, ...values].filter(({ from, to }) => !jsonEqual(from, to));
}

const keysOf = (...values: readonly object[]) => [...new Set(values.flatMap(Object.keys))].sort();

/** What no change of a part of an incident says: what counts the changes. */
const UNSAID: ReadonlySet<string> = new Set([
  'id',
  'revision',
  'incident_id',
  'collaboration_generation',
  'updated_at',
]);

/**
 * Returns the differences between two states of a timeline event or a follow-up as events contain them. The fields begin
 * with its place, such as `timeline_events.5`.
 */
export function changesOfPart(
  place: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Change[] {
  return Object.entries(before)
    .filter(([name]) => !UNSAID.has(name))
    .map(([name, from]): Change => ({ field: `${place}.${name}`, from, to: ownProperty(after, name) ?? null }))
    .filter(({ from, to }) => !jsonEqual(from, to));
}

/** Changes as changelog and events contain them, and the bytes of JSON of the values before they were shortened. */
interface ShortenedChanges {
  changes: Change[];
  bytes: number;
}

/** As `shortenValues`, for what changes contain. */
export function shortenChanges(changes: readonly Change[]): ShortenedChanges {
  const { values, bytes } = shortenValues(changes.flatMap(({ from, to }) => [from, to]));
  return {
    changes: changes.map(({ field }, index) => ({ field, from: values[2 * index], to: values[2 * index + 1] })),
    bytes,
  };
}
