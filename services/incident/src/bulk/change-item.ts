import type { KeyedOutcome } from '@tocsin/http';
import type { Caller } from '@tocsin/versioned-resources';
import type { Incident, IncidentProperties } from '../incidents/domain/incident.ts';
import { type UpdateDependencies, updateIncident } from '../incidents/update-incident.ts';
import { moveIncident, type TransitionCommand, transitionIncident } from '../lifecycle/lifecycle.ts';

/** What an item asks for: a PATCH, or a verb. */
export type BulkItem = { id: number } & (
  | { expectedRevision: number; changes: Partial<IncidentProperties> }
  | { expectedRevision: number | undefined; verb: TransitionCommand['name'] | 'archive' | 'restore' }
);

/** Does what the single request would do, with its checks in their order. @throws as that does */
export async function changeItem(
  dependencies: UpdateDependencies,
  { item, outcome, ...caller }: Caller & { item: BulkItem; outcome: KeyedOutcome<Incident> | undefined },
): Promise<Incident> {
  if ('changes' in item) return updateIncident(dependencies, { ...caller, ...item, outcome });
  const { id, verb, expectedRevision } = item;
  const ofResult = outcome && {
    ...outcome,
    responseOf: (result: { incident: Incident }) => outcome.responseOf(result.incident),
  };
  const command = { ...caller, id, expectedRevision, outcome: ofResult };
  const { incident } =
    verb === 'archive' || verb === 'restore'
      ? await moveIncident(dependencies, { ...command, event: `incident.${verb}d` })
      : await transitionIncident(dependencies, { ...command, name: verb, note: '' });
  return incident;
}
