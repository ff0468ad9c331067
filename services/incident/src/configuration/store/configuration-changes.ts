import { type Knex, query } from '@tocsin/postgres';
import { insertOf } from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';
import type { Severity, WorkflowStatus } from '../domain/configuration.ts';

/** The parts of a workspace's configuration to replace; missing parts stay as they are. */
export interface ConfigurationChange {
  workflowStatuses?: readonly WorkflowStatus[];
  severities?: readonly Severity[];
  /** Units of the reporting currency per unit of each currency. */
  exchangeRates?: Readonly<Record<string, { rate: number; asOf: Instant }>>;
  /** Of the latest list of service tiers. */
  tiersVersion?: number;
  timeZone?: string;
  postmortemTemplate?: string;
}

/** Keys of statuses and severities. */
export interface Keys {
  status: readonly string[];
  severity: readonly string[];
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

    /** Counts the incidents, active and archived, that have these statuses and severities. */
    async countUses({ status, severity }: Keys): Promise<{ field: keyof Keys; key: string; count: number }[]> {
      if (status.length + severity.length === 0) return [];
      const count = (field: keyof Keys, keys: string) => `
        select '${field}' as field, ${field} as key, sum(count)::bigint as count from (
          select ${field}, count(*) from incidents
          where workspace_id = $1 and archived_at is null and ${field} = any(${keys}) group by 1
          union all select ${field}, count(*) from incidents
          where workspace_id = $1 and archived_at is not null and ${field} = any(${keys}) group by 1
        ) as counted group by ${field}`;
      return query(db, {
        text: `${count('status', '$2')} union all ${count('severity', '$3')} order by 1 desc, 2`,
        values: [workspaceId, status, severity],
      });
    },

    /**
     * The IDs, ascending, of the incidents, active and archived, that have one of these statuses or severities.
     * @param limit the most IDs; all by default
     */
    async listWithKeys({ status, severity }: Keys, limit?: number): Promise<number[]> {
      if (status.length + severity.length === 0) return [];
      // Active and archived incidents have indexes of their own.
      const rows = await query<{ id: number }>(db, {
        text: `select id from incidents where workspace_id = $1 and archived_at is null and status = any($2)
         union select id from incidents where workspace_id = $1 and archived_at is null and severity = any($3)
         union select id from incidents
           where workspace_id = $1 and archived_at is not null and (status = any($2) or severity = any($3))
         order by id limit $4`,
        values: [workspaceId, status, severity, limit ?? null],
      });
      return rows.map(({ id }) => id);
    },

    async write({
      workflowStatuses,
      severities,
      exchangeRates,
      tiersVersion,
      timeZone,
      postmortemTemplate,
    }: ConfigurationChange): Promise<void> {
      const columns = {
        workflow_statuses: workflowStatuses && JSON.stringify(workflowStatuses),
        severities: severities && JSON.stringify(severities),
        exchange_rates: exchangeRates && JSON.stringify(exchangeRates),
        tiers_version: tiersVersion,
        time_zone: timeZone,
        postmortem_template: postmortemTemplate,
      };
      const changed = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
      if (Object.keys(changed).length === 0) return;
      const { text, values } = insertOf('configurations', { workspace_id: workspaceId, ...changed });
      const assignments = Object.keys(changed).map((name) => `${name} = excluded.${name}`);
      await query(db, { text: `${text} on conflict (workspace_id) do update set ${assignments.join(', ')}`, values });
    },

    /** Sets or clears the end of incidents whose status became terminal or stopped being terminal. */
    async realignEnds(ids: readonly number[], statuses: readonly WorkflowStatus[]): Promise<void> {
      if (ids.length === 0) return;
      const terminal = statuses.filter(({ isTerminal }) => isTerminal).map(({ key }) => key);
      await query(db, {
        text: `update incidents
          set ended_at = case when ended_at is null then coalesce(status_changed_at, created_at) end
          where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])
            and (ended_at is not null) <> (status = any((select $3::text[])::text[]))`,
        values: [workspaceId, ids, terminal],
      });
    },
  };
}
