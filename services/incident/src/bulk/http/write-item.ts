import { readExpectedRevision, validate } from '@tocsin/http';
import type { Caller } from '@tocsin/resources';
import type { Incident } from '../../incidents/domain/incident.ts';
import { toIncidentProperties } from '../../incidents/http/properties.ts';
import { incidentPatch } from '../../incidents/http/wire.ts';
import type { CommandOutcome } from '../../incidents/run-command.ts';
import { type UpdateDependencies, updateIncident } from '../../incidents/update-incident.ts';
import { moveIncident, transitionIncident } from '../../lifecycle/lifecycle.ts';
import { looseChangeItem, verbItem } from './wire.ts';

/** What an item asks for, with its outcome if the request has a key. */
interface ItemCommand extends Caller {
  item: unknown;
  outcome: CommandOutcome<Incident> | undefined;
}

/** Does what the single request would do, with its checks in their order. @throws as that does */
export async function writeItem(
  dependencies: UpdateDependencies,
  { item, outcome, ...caller }: ItemCommand,
): Promise<Incident> {
  if (typeof item !== 'object' || item === null || !('verb' in item)) {
    const { id, revision, changes } = validate(looseChangeItem, item);
    const expectedRevision = readExpectedRevision(revision?.toString());
    const properties = toIncidentProperties(validate(incidentPatch, changes));
    return updateIncident(dependencies, { ...caller, id, expectedRevision, changes: properties, outcome });
  }
  const { id, verb, revision: expectedRevision } = validate(verbItem, item);
  const ofResult = outcome && {
    ...outcome,
    render: (result: { incident: Incident }) => outcome.render(result.incident),
  };
  const command = { ...caller, id, expectedRevision, outcome: ofResult };
  const { incident } =
    verb === 'archive' || verb === 'restore'
      ? await moveIncident(dependencies, { ...command, event: `incident.${verb}d` })
      : await transitionIncident(dependencies, { ...command, name: verb, note: '' });
  return incident;
}
