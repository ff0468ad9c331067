import { isDeepStrictEqual } from 'node:util';
import { getValue, type Incident } from './incident.ts';
import { RECORDED } from './property-sets.ts';

/** The change of one property, by its name in the API. */
export interface Change {
  field: string;
  from: unknown;
  to: unknown;
}

/** Returns the differences between two states of an incident: properties in the order of requests, then custom-field values. */
export function changesBetween(before: Incident, after: Incident): Change[] {
  const properties = RECORDED.map(({ property, name }): Change => ({
    field: name,
    from: before[property],
    to: after[property],
  }));
  const slugs = new Set([...Object.keys(before.customFields), ...Object.keys(after.customFields)]);
  const values = [...slugs].sort().map((slug): Change => ({
    field: `custom_fields.${slug}`,
    from: getValue(before.customFields, slug),
    to: getValue(after.customFields, slug),
  }));
  return [...properties, ...values].filter(({ from, to }) => !isDeepStrictEqual(from, to));
}
