import { isLargeValue } from '@tocsin/schemas';
import type { Change } from './changes.ts';
import type { Incident } from './incident.ts';
import { RECORDED, type Shown, type WireName } from './property-sets.ts';

/** The properties whose changes the changelog never has, and what follows from them. */
const NOT_RECORDED = [
  'status_changed_at',
  'first_acted_at',
  'last_event_at',
  'last_event_summary',
  'duration_seconds',
  'event_count',
  'investigation_summary',
  'postmortem_state',
] as const satisfies readonly WireName<Shown>[];

const VALUES = 'custom_fields.';
const ROLES = 'roles.';

/** An incident as it was at a revision, as far as the changelog says. */
export interface PastIncident {
  incident: Incident;
  /** The properties, as the changelog names them, that may have been others: they are as they are now. */
  notRecorded: string[];
}

/**
 * Returns the incident as it was at an earlier revision (contract: Incidents).
 * @param changes for each property that has changed since, the value before the first of these changes
 */
export function undoChanges(
  incident: Incident,
  { revision, changes }: { revision: number; changes: readonly Pick<Change, 'field' | 'from'>[] },
): PastIncident {
  const large = changes.filter(({ from }) => isLargeValue(from));
  const earlierValues = new Map(
    changes.filter((change) => !large.includes(change)).map(({ field, from }) => [field, from]),
  );
  const changed = RECORDED.filter(({ name }) => earlierValues.has(name));
  const properties = Object.fromEntries(
    changed.map(({ property, name }) => [property, earlierValues.get(name)]),
  ) as Partial<Incident>;
  const undone = <Value>(values: Readonly<Record<string, Value>>, prefix: string): Record<string, Value> => {
    const earlier = [...earlierValues]
      .filter(([field]) => field.startsWith(prefix))
      .map(([field, from]) => [field.slice(prefix.length), from as Value] as const);
    return Object.fromEntries([...Object.entries(values), ...earlier]);
  };
  const customFields = Object.entries(undone(incident.customFields, VALUES)).filter(([, value]) => value !== null);
  const roles = Object.entries(undone(incident.roles, ROLES)).filter(([, holders]) => holders.length > 0);
  return {
    incident: {
      ...{ ...incident, ...properties, revision },
      ...{ roles: Object.fromEntries(roles), customFields: Object.fromEntries(customFields) },
    },
    notRecorded: [...NOT_RECORDED, ...large.map(({ field }) => field)],
  };
}
