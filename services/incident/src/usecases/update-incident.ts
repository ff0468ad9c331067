import { checkRevision } from '@tocsin/http';
import { choose } from '../domain/configuration.ts';
import type { Incident } from '../domain/incident.ts';
import { checkWritable, statusChange } from '../domain/lifecycle.ts';
import { incidentStore } from '../store/incident-store.ts';
import { authorOf, type Caller, type Tools } from './context.ts';
import { propertiesOf, type WireProperties } from './properties.ts';
import { checkReferences, namesUsers, newReferences } from './references.ts';
import { saveIncident } from './save-incident.ts';

export interface UpdateCommand extends Caller {
  id: number;
  expectedRevision: number;
  body: WireProperties;
}

/**
 * Changes some properties of an active incident (contract: Incidents). Values equal to the stored ones change nothing.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateIncident(tools: Tools, command: UpdateCommand): Promise<Incident> {
  const { principal, id, expectedRevision, body } = command;
  const said = propertiesOf(body);
  // Before the transaction: while a row is locked, no call to another service and no wait for a second connection.
  const { statuses, severities } = await tools.configurations.get(principal.workspace);
  const standing =
    typeof said.teamId === 'number' || namesUsers(said)
      ? await tools.replicas.refresh(principal.workspace, 'catalog', 'users')
      : new Map();

  const updated = await tools.database.transaction(async (trx) => {
    const before = await incidentStore(trx, principal.workspace.id).getForUpdate(id);
    checkWritable(before);
    checkRevision(before.revision, expectedRevision);
    const now = tools.clock.now();
    const severityMode = modeAfter(before, said, body.severity_mode);
    const status = said.status === undefined ? {} : statusChange(before, said.status, { statuses, now });
    if (said.severity !== undefined) choose(severities, said.severity, 'severity');
    const properties = newReferences(before, said);
    await checkReferences(trx, { workspace: principal.workspace, properties, standing });
    return saveIncident({ trx, author: authorOf(command), before, change: { ...said, ...status, severityMode }, now });
  });
  tools.wakeRelay();
  return updated;
}

/** Saying the severity that is there already decides nothing by hand. */
function modeAfter(before: Incident, said: Partial<Incident>, asked: Incident['severityMode'] | undefined) {
  if (asked !== undefined) return asked;
  return said.severity === before.severity ? before.severityMode : (said.severityMode ?? before.severityMode);
}
