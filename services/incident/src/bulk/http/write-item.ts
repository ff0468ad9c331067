import { DomainError, readExpectedRevision, UnstorableItem, validate } from '@tocsin/http';
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

const CHANGES = 'changes.';

/** Does what the single request would do, with its checks in their order. @throws as that does */
export async function writeItem(
  dependencies: UpdateDependencies,
  { item, outcome, ...caller }: ItemCommand,
): Promise<Incident> {
  const { value, fault } = item instanceof UnstorableItem ? item : { value: item };
  const isInChanges = fault?.field?.startsWith(CHANGES) === true;
  if (fault !== undefined && !isInChanges) throw fault;
  if (typeof value !== 'object' || value === null || !('verb' in value)) {
    const { id, revision, changes } = validate(looseChangeItem, value);
    const expectedRevision = readExpectedRevision(revision?.toString());
    // The single request has the changes as its body.
    if (fault !== undefined)
      throw new DomainError(fault.code, fault.message, { field: fault.field?.slice(CHANGES.length) });
    const properties = toIncidentProperties(validate(incidentPatch, changes));
    return updateIncident(dependencies, { ...caller, id, expectedRevision, changes: properties, outcome });
  }
  const { id, verb, revision: expectedRevision } = validate(verbItem, value);
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
