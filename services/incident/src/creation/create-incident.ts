/**
 * `creation` creates incidents (contract: Incidents). First everything is checked that can be: configuration,
 * references and values by the replicas, and storage. Then one statement, in one round trip, takes the next number of
 * the workspace, whose counter stays locked until the commit, and writes incident, values, requested channel, event and
 * the outcome of the Idempotency-Key (ADR 5). It writes nothing if the key is not free, the configuration has changed
 * since it was read, which runs the checks again, or the quota is used up. So numbers have no gaps, and a crash leaves
 * all or nothing; whoever did not get the response repeats the request with its key. With a document to import, the key
 * is claimed before, and `source-imports` reads the document after the commit.
 */
import { quotaOf } from '@tocsin/schemas';
import type { IdempotencyClaim, KeyedOutcome } from '@tocsin/http';
import { outboxRow } from '@tocsin/messaging';
import { type Caller, eventOrigin } from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';
import { selectEntry } from '../configuration/domain/configuration.ts';
import type { Incident, IncidentProperties, UnnumberedIncident } from '../incidents/domain/incident.ts';
import { incidentSnapshot } from '../incidents/domain/snapshot.ts';
import {
  applyChanges,
  checkTotalSize,
  type FieldValue,
  initialValues,
  type ValueInput,
} from '../values/domain/values.ts';
import { type IncidentInsert, insertIncident, newPlaceholders } from './store/insert-incident.ts';
import { authorOf, creatorOf, publishedActor } from '../incidents/save-incident.ts';
import { type Attempt, runCommand } from '../incidents/run-command.ts';
import { type OnCallLeadDependencies, onCallLeads } from '../incidents/on-call-leads.ts';
import { checkReferences, newReferences, referToUsers } from '../incidents/references.ts';
import { checkByReplica } from '../replicas/replicas.ts';
import {
  type ChatRequest,
  type ProvisioningCommandDependencies,
  requestedProvisioning,
  shortTitleSlug,
} from '../chat/request-provisioning.ts';
import type { NewProvisioning } from '../chat/store/provisioning-store.ts';
import { checkHolders, holdersAfter } from '../incidents/domain/role-holders.ts';
import { INITIAL } from '../incidents/domain/property-sets.ts';

export type CreateDependencies = ProvisioningCommandDependencies & OnCallLeadDependencies;

interface CreateIncidentCommand extends Caller {
  properties: Partial<IncidentProperties> & { title: string };
  chat: ChatRequest;
  customFields: readonly ValueInput[];
  outcome?: KeyedOutcome<Incident> | undefined;
  /** Marks the key as used if and only if the incident exists; an import stores the outcome later. */
  claim?: IdempotencyClaim | undefined;
}

/**
 * Creates an incident (contract: Incidents).
 * @throws DomainError `invalid_request` for an unknown status, severity, team or user, or a missing or invalid custom-field
 * value; `invalid_resource_state` for a quota or a taken external ID; `service_unavailable` if a reference cannot be checked
 */
export async function createIncident(
  dependencies: CreateDependencies,
  command: CreateIncidentCommand,
): Promise<Incident> {
  const { principal, properties, claim } = command;
  const { incident, provisioning } = await runCommand(dependencies, {
    workspace: principal.workspace,
    replicas: ['catalog', 'custom_field', ...(referToUsers(newReferences(properties)) ? (['users'] as const) : [])],
    externalId: properties.externalId,
    prepares: async (attempt) => prepareIncident(dependencies, { command, attempt }),
    decides: (_, { prepared: insert, checkStorage }) => {
      checkStorage('incident');
      return {
        stores: async (trx) => {
          await claim?.beginExternalEffect(trx);
          return { ...insert, incident: { ...insert.incident, ...(await insertIncident(trx, insert)) } };
        },
      };
    },
    isOneStatement: claim === undefined,
  });
  if (provisioning !== undefined) dependencies.wakeProvisioner();
  return incident;
}

/** Checks everything that can be checked before the insert. */
async function prepareIncident(
  dependencies: CreateDependencies,
  { command, attempt }: { command: CreateIncidentCommand; attempt: Attempt },
): Promise<IncidentInsert> {
  const { database, clock, replicas } = dependencies;
  const { principal, properties, chat, outcome } = command;
  const { freshness } = attempt;
  const { workspace } = principal;
  const configuration = await attempt.readConfiguration();
  const shortTitle = shortTitleSlug(chat.shortTitle, { required: workspace.short_title_required });
  const now = clock.now();
  const provisioning = requestedProvisioning(command, { chat, incident: properties, now });
  const { roles = {} } = properties;
  const status = selectEntry(configuration.statuses, properties.status, 'status');
  const severity = selectEntry(configuration.severities, properties.severity, 'severity');
  checkHolders(roles, {}, configuration.incidentRoles);

  await checkReferences(database, { workspace, references: newReferences(properties), freshness });
  const definitions = await replicas.fields.get(workspace.id, freshness.get('custom_field')?.version);
  const values = checkByReplica(freshness, 'custom_field', () => initialValues(definitions, command.customFields));
  const { service } = properties;
  const ownerTeamId =
    service === undefined
      ? null
      : await replicas.ownerTeams.find(workspace.id, service, freshness.get('catalog')?.version);
  const teamId = properties.teamId ?? ownerTeamId;
  const leads =
    properties.incidentManager === undefined
      ? await onCallLeads(dependencies, { workspace, configuration, teamIds: [teamId] })
      : undefined;
  const lead = leads?.get(teamId);
  return incidentInsert({
    caller: command,
    properties: {
      ...properties,
      ...(lead !== undefined && { incidentManager: lead }),
      status: status.key,
      severity: severity.key,
      restricted: properties.restricted ?? severity.restricted ?? false,
      severityMode: properties.severity === undefined ? 'auto' : 'manual',
      teamId,
      roles: holdersAfter({}, roles),
      shortTitle,
    },
    statusIsTerminal: status.isTerminal,
    values,
    provisioning,
    configurationVersion: configuration.version,
    outcome,
    now,
  });
}

/** A create whose properties are checked. */
interface CheckedCreate {
  caller: Caller;
  /** The request's properties with the workspace's defaults. */
  properties: Partial<UnnumberedIncident> & Pick<Incident, 'title' | 'severity' | 'severityMode' | 'status'>;
  statusIsTerminal: boolean;
  values: readonly FieldValue[];
  provisioning?: NewProvisioning | undefined;
  configurationVersion: number;
  outcome?: CreateIncidentCommand['outcome'];
  now: Instant;
}

/** Returns what `insertIncident` writes. @throws DomainError `invalid_request` for values that are too large */
export function incidentInsert(create: CheckedCreate): IncidentInsert {
  const { caller, statusIsTerminal, values, provisioning, configurationVersion, outcome, now } = create;
  const { workspace } = caller.principal;
  const { nextUpdateAt = null } = create.properties;
  const properties = {
    ...create.properties,
    ...(nextUpdateAt !== null && { updateReminder: eventOrigin(caller).workspace }),
  };
  const customFields = applyChanges({}, values);
  checkTotalSize(customFields, { before: {}, property: 'custom_field_values' });
  const incident = newIncident({
    workspaceId: workspace.id,
    properties,
    statusIsTerminal,
    customFields,
    creator: creatorOf(caller),
    now,
  });

  // The database assigns ID and number, so the statement replaces their placeholders in the stored texts.
  const placeholders = newPlaceholders();
  const incidentWithPlaceholders = { ...incident, ...placeholders };
  const key = outcome && { key: outcome.key, text: outcome.responseOf(incidentWithPlaceholders).text };
  const event = outboxRow({
    type: 'incident.created',
    occurredAt: incident.createdAt,
    ...eventOrigin(caller),
    restricted: incident.restricted,
    data: { incident: incidentSnapshot(incidentWithPlaceholders), ...publishedActor(authorOf(caller)) },
  });
  return {
    incident,
    values,
    provisioning,
    configurationVersion,
    quota: quotaOf(workspace, 'incidents'),
    placeholders,
    event,
    key,
  };
}

interface NewIncidentInput extends Pick<CheckedCreate, 'properties' | 'statusIsTerminal'> {
  workspaceId: number;
  customFields: Readonly<Record<string, unknown>>;
  creator: Pick<Incident, 'createdBy' | 'createdByKey'>;
  now: Instant;
}

/** Returns a new incident, before the database assigns its ID and number. */
export function newIncident({
  workspaceId,
  properties,
  statusIsTerminal,
  customFields,
  creator,
  now,
}: NewIncidentInput): UnnumberedIncident {
  return {
    ...INITIAL,
    ...properties,
    workspaceId,
    endedAt: statusIsTerminal ? now : null,
    customFields,
    createdAt: now,
    ...creator,
  };
}
