import { quotaOf } from '@tocsin/contracts';
import type { IdempotencyKey } from '@tocsin/http';
import { outboxRow } from '@tocsin/messaging';
import { selectEntry, type Configuration } from '../configuration/domain/configuration.ts';
import { newIncident } from './domain/new-incident.ts';
import type { Incident, IncidentProperties } from '../incidents/domain/incident.ts';
import { incidentSnapshot } from '../incidents/domain/snapshot.ts';
import type { Knex } from '@tocsin/postgres';
import { bytesOf } from '../storage/domain/storage-quota.ts';
import { applyChanges, checkTotalSize, initialValues, type ValueInput } from '../values/domain/values.ts';
import { type IncidentInsert, insertIncident, newPlaceholders } from './store/insert-incident.ts';
import { type Caller, eventOrigin } from '@tocsin/resources';
import { actorOf } from '../incidents/author.ts';
import type { Dependencies } from '../dependencies.ts';
import {
  type ImportCommand,
  type ImportReply,
  importSourceTimeline,
  type StoredReply,
} from '../source-imports/import-source-timeline.ts';
import { withFreeExternalId } from '../incidents/external-ids.ts';
import { checkReferences, refersToUsers } from '../incidents/references.ts';
import { checkByReplica } from '../replicas/replicas.ts';
import { type ChatRequest, requestedProvisioning, shortTitleSlug } from '../chat/request-provisioning.ts';
import { withConfiguration } from '../configuration/with-configuration.ts';

interface IncidentCommand extends Caller {
  properties: Partial<IncidentProperties> & { title: string };
  chat: ChatRequest;
  customFields: readonly ValueInput[];
}

export interface CreateIncidentCommand extends IncidentCommand {
  key: IdempotencyKey | undefined;
  /** Renders the response body. */
  render: (incident: Incident) => string;
}

export type ImportIncidentCommand = IncidentCommand & Omit<ImportCommand, 'incident'>;

/**
 * Creates an incident (contract: Incidents). The incident, its event and the outcome of the Idempotency-Key commit together.
 * @throws DomainError `invalid_request` for an unknown status, severity, team or user, or a missing or invalid custom-field
 * value; `invalid_resource_state` for a quota or a taken external ID; `service_unavailable` if a reference cannot be checked
 */
export async function createIncident(dependencies: Dependencies, command: CreateIncidentCommand): Promise<StoredReply> {
  const { principal, key, render } = command;
  return withConfiguration(dependencies, principal.workspace, async (configuration) => {
    const { insert, incidentWithPlaceholders, wake } = await prepareIncident(configuration, dependencies, command);
    const stored = key && { key, text: render(incidentWithPlaceholders) };
    const { incident } = insert;
    const created = await withFreeExternalId(dependencies, {
      incident,
      write: async () => insertIncident(dependencies.database, { ...insert, key: stored }),
    });
    wake({ keyBytes: stored === undefined ? 0 : Buffer.byteLength(stored.text) });
    return { text: render({ ...incident, ...created }), revision: incident.revision };
  });
}

/**
 * Creates an incident like `createIncident`, and then imports its timeline from the document at its `docUrl`. The outcome of
 * the Idempotency-Key commits after the import.
 */
export async function importIncident(dependencies: Dependencies, command: ImportIncidentCommand): Promise<ImportReply> {
  const { principal, claim } = command;
  const incident = await withConfiguration(dependencies, principal.workspace, async (configuration) => {
    const { insert, wake } = await prepareIncident(configuration, dependencies, command);
    const write = async (trx: Knex.Transaction) => {
      // In the incident's transaction, so that the key counts as used if and only if the incident exists.
      await claim?.beginExternalEffect(trx);
      return insertIncident(trx, { ...insert, key: undefined });
    };
    const created = await withFreeExternalId(dependencies, {
      incident: insert.incident,
      write: async () => dependencies.database.transaction(write),
    });
    wake();
    return { ...insert.incident, ...created };
  });
  return importSourceTimeline(dependencies, { ...command, incident });
}

interface PreparedIncident {
  insert: Omit<IncidentInsert, 'key'>;
  /** For texts that are stored with the incident. */
  incidentWithPlaceholders: Incident;
  /** Must be called after the commit, with the bytes of a response that is stored with a key. */
  wake: (stored?: { keyBytes: number }) => void;
}

/** Checks everything that can be checked before the insert. */
async function prepareIncident(
  configuration: Configuration,
  dependencies: Dependencies,
  command: IncidentCommand,
): Promise<PreparedIncident> {
  const { principal, properties, chat } = command;
  const { workspace } = principal;
  const shortTitle = shortTitleSlug(chat.shortTitle, { required: workspace.short_title_required });
  const now = dependencies.clock.now();
  const provisioning = requestedProvisioning(command, { chat, incident: properties, now });
  const status = selectEntry(configuration.statuses, properties.status, 'status');
  const severity = selectEntry(configuration.severities, properties.severity, 'severity');

  const owners = ['catalog', 'custom_field', ...(refersToUsers(properties) ? (['users'] as const) : [])] as const;
  const { values, ownerTeamId } = await dependencies.replicas.withFreshReplicas(
    workspace,
    owners,
    async (freshness) => {
      await checkReferences(dependencies.database, { workspace, properties, freshness });
      const fields = await dependencies.fields.get(workspace.id, freshness.get('custom_field')?.version);
      const { service } = properties;
      return {
        values: await checkByReplica(freshness, 'custom_field', () => initialValues(fields, command.customFields)),
        ownerTeamId:
          service === undefined
            ? null
            : await dependencies.ownerTeams.find(workspace.id, service, freshness.get('catalog')?.version),
      };
    },
  );
  const customFields = applyChanges({}, values);
  checkTotalSize(customFields, { before: {}, property: 'custom_field_values' });

  const incident = newIncident({
    workspaceId: workspace.id,
    properties: {
      ...properties,
      status: status.key,
      severity: severity.key,
      severityMode: properties.severity === undefined ? 'auto' : 'manual',
      teamId: properties.teamId ?? ownerTeamId,
      shortTitle,
    },
    statusIsTerminal: status.isTerminal,
    customFields,
    createdBy: actorOf(command),
    now,
  });

  const bytes = bytesOf([incident.title, incident.impactSummary, incident.customFields]);
  dependencies.storage.check(workspace, { kind: 'incident', growth: bytes });

  // The database assigns ID and number, so the statement replaces their placeholders in the stored texts.
  const placeholders = newPlaceholders();
  const incidentWithPlaceholders = { ...incident, ...placeholders };
  const event = outboxRow({
    type: 'incident.created',
    occurredAt: incident.createdAt,
    ...eventOrigin(command),
    data: { incident: incidentSnapshot(incidentWithPlaceholders) },
  });
  const insert = {
    incident,
    values,
    provisioning,
    configurationVersion: configuration.version,
    quota: quotaOf(workspace, 'incidents'),
    placeholders,
    event,
  };
  const wake: PreparedIncident['wake'] = ({ keyBytes } = { keyBytes: 0 }) => {
    dependencies.storage.add(workspace.id, { bytes, keyBytes });
    dependencies.wakeRelay();
    if (provisioning !== undefined) dependencies.wakeProvisioner();
  };
  return { insert, incidentWithPlaceholders, wake };
}
