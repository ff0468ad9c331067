import type { IdempotencyClaim } from '@tocsin/http';
import { outboxRow } from '@tocsin/messaging';
import type { Logger } from '@tocsin/runtime';
import { choose } from '../domain/configuration.ts';
import { declare } from '../domain/declare.ts';
import type { Incident } from '../domain/incident.ts';
import { incidentSnapshot } from '../domain/snapshot.ts';
import type { SourceImport } from '../domain/source/document.ts';
import { type GivenValue, valuesAtCreation, withValues } from '../domain/values.ts';
import { fill, insertIncident, placeholders } from '../store/insert-incident.ts';
import { replicaStore } from '../store/replica-store.ts';
import { actorOf, type Caller, eventWorkspaceOf, type Tools } from './context.ts';
import { type Answer, importSourceTimeline } from './import-source-timeline.ts';
import { propertiesOf, type WireProperties } from './properties.ts';
import { checkReferences, namesUsers } from './references.ts';
import { judge } from './replicas.ts';
import { requestedProvisioning, shortTitleOf, type WireChat } from './request-provisioning.ts';

export interface DeclareCommand extends Caller {
  body: WireProperties &
    WireChat & {
      title: string;
      custom_field_values?: readonly GivenValue[] | undefined;
      /** Goes with a `doc_url`. */
      import_source_timeline_event?: boolean | undefined;
    };
  claim: IdempotencyClaim | undefined;
  log: Logger;
  /** The answer's text for an incident, made before the statement that stores it; after an import with what became of it. */
  render: (incident: Incident, sourceImport?: SourceImport) => string;
}

/**
 * Declares an incident (contract: Incidents): the incident, its event and the outcome of its Idempotency-Key commit together. With
 * an import the outcome comes later, when the import is done.
 * @throws DomainError `invalid_request` for a status, severity, team or user that is not there, or a custom-field value that is
 * missing or does not fit; `service_unavailable` where that cannot be told
 */
export async function declareIncident(tools: Tools, command: DeclareCommand): Promise<Answer> {
  const { principal, requestId, body, claim, render } = command;
  const { workspace } = principal;
  const said = propertiesOf(body);
  const shortTitle = shortTitleOf(body, { required: workspace.short_title_required });
  const now = tools.clock.now();
  const provisioning = requestedProvisioning(command, { chat: body, incident: said, now });
  const { statuses, severities } = await tools.configurations.get(workspace);
  const status = choose(statuses, body.status, 'status');
  const severity = choose(severities, body.severity, 'severity');

  const standing = await tools.replicas.refresh(
    workspace,
    'catalog',
    'custom_field',
    ...(namesUsers(said) ? (['users'] as const) : []),
  );
  await checkReferences(tools.database, { workspace, properties: said, standing });
  const fields = await tools.fields.get(workspace.id, standing.get('custom_field'));
  const values = await judge(standing, 'custom_field', () => valuesAtCreation(fields, body.custom_field_values ?? []));
  const inherited =
    said.service === undefined ? null : await replicaStore(tools.database, workspace.id).findOwnerTeam(said.service);

  const incident = declare({
    workspaceId: workspace.id,
    properties: {
      ...said,
      title: body.title.trim(),
      status: status.key,
      severity: severity.key,
      severityMode: said.severityMode ?? 'auto',
      teamId: said.teamId ?? inherited,
      shortTitle,
    },
    statusIsTerminal: status.isTerminal,
    customFields: withValues({}, values),
    by: actorOf(command),
    now,
  });

  // The ID and the number exist only once the statement runs; texts that hold them are completed there.
  const blank = placeholders();
  const numbered = { ...incident, id: blank.id, number: blank.number } as unknown as Incident;
  const event = outboxRow({
    type: 'incident.created',
    occurredAt: incident.createdAt,
    workspace: eventWorkspaceOf(command),
    requestId,
    data: { incident: incidentSnapshot(numbered) },
  });
  const insertion = { incident, values, provisioning, blank, event };
  const wake = () => {
    tools.wakeRelay();
    if (provisioning !== undefined) tools.wakeProvisioner();
  };
  if (body.import_source_timeline_event !== true) {
    const text = render(numbered);
    const real = await insertIncident(tools.database, { ...insertion, claim: claim && { token: claim.token, text } });
    wake();
    return { text: fill(text, blank, real), revision: incident.revision };
  }
  const real = await tools.database.transaction(async (trx) => {
    // With the incident, so that a key is not taken for used when nothing was made, nor for unused when something was.
    await claim?.beginOutsideEffect(trx);
    return insertIncident(trx, { ...insertion, claim: undefined });
  });
  wake();
  return importSourceTimeline(tools, { ...command, incident: { ...incident, ...real } });
}
