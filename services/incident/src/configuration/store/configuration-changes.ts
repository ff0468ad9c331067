import { type Knex, query } from '@tocsin/postgres';
import { insertOf } from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';
import type { IncidentRole, OnCallLead, Severity, WorkflowStatus } from '../domain/configuration.ts';

/** The parts of a workspace's configuration to replace; missing parts stay as they are. */
export interface ConfigurationChange {
  workflowStatuses?: readonly WorkflowStatus[];
  severities?: readonly Severity[];
  incidentRoles?: readonly IncidentRole[];
  /** Units of the reporting currency per unit of each currency. */
  exchangeRates?: Readonly<Record<string, { rate: number; asOf: Instant }>>;
  /** Of the latest list of service tiers. */
  tiersVersion?: number;
  timeZone?: string;
  onCallLead?: OnCallLead;
  postmortemTemplate?: string;
}

/** Changes the configuration of one workspace, over a pool or a transaction. */
export function configurationChanges(db: Knex, workspaceId: number) {
  return {
    /** Call it before the transaction: a row that it has inserted itself keeps nobody waiting. */
    async createCounter(): Promise<void> {
      await query(db, {
        text: 'insert into incident_counters (workspace_id, last) values ($1, 0) on conflict do nothing',
        values: [workspaceId],
      });
    },

    /**
     * Excludes writes that were checked against the old configuration: it waits for transactions that lock the
     * configuration (`lockConfiguration`), and creates wait until this transaction ends. Call it first, so that it
     * serializes changes of the configuration.
     */
    async lock(): Promise<void> {
      await query(db, {
        text: 'select workspace_id from incident_counters where workspace_id = $1 for update',
        values: [workspaceId],
      });
    },

    /** Raises the configuration's version; returns the new one. */
    async raiseVersion(): Promise<number> {
      const [row] = await query<{ version: number }>(db, {
        text: `update incident_counters set configuration_version = configuration_version + 1 where workspace_id = $1
          returning configuration_version as version`,
        values: [workspaceId],
      });
      return (row as { version: number }).version;
    },

    /** The version of the latest list of service tiers that was committed; 0 before the first. */
    async findTiersVersion(): Promise<number> {
      const [row] = await query<{ version: number }>(db, {
        text: 'select tiers_version as version from configurations where workspace_id = $1',
        values: [workspaceId],
      });
      return row?.version ?? 0;
    },

    async write({
      workflowStatuses,
      severities,
      incidentRoles,
      exchangeRates,
      tiersVersion,
      timeZone,
      onCallLead,
      postmortemTemplate,
    }: ConfigurationChange): Promise<void> {
      const columns = {
        workflow_statuses: workflowStatuses && JSON.stringify(workflowStatuses),
        severities: severities && JSON.stringify(severities),
        incident_roles: incidentRoles && JSON.stringify(incidentRoles),
        exchange_rates: exchangeRates && JSON.stringify(exchangeRates),
        tiers_version: tiersVersion,
        time_zone: timeZone,
        on_call_lead: onCallLead,
        postmortem_template: postmortemTemplate,
      };
      const changed = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
      if (Object.keys(changed).length === 0) return;
      const { text, values } = insertOf('configurations', { workspace_id: workspaceId, ...changed });
      const assignments = Object.keys(changed).map((name) => `${name} = excluded.${name}`);
      await query(db, { text: `${text} on conflict (workspace_id) do update set ${assignments.join(', ')}`, values });
    },
  };
}
