import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Severity, WorkflowStatus } from '../domain/configuration.ts';

/** The parts of a workspace's configuration to replace; missing parts stay as they are. */
export interface ConfigurationChange {
  workflowStatuses?: readonly WorkflowStatus[];
  severities?: readonly Severity[];
  /** Units of the reporting currency per unit of each currency. */
  exchangeRates?: Readonly<Record<string, { rate: number; asOf: Instant }>>;
}

/** Changes the configuration of one workspace, over a pool or a transaction. */
export function configurationChanges(db: Knex, workspaceId: number) {
  return {
    /**
     * Raises the configuration's version and excludes writes that were checked against the old one: it waits for
     * transactions that lock the configuration (`lockConfiguration`), and creates wait until this transaction ends. Call it
     * first, so that it serializes configuration commands.
     */
    async begin(): Promise<void> {
      const counter = () => db('incident_counters').where({ workspace_id: workspaceId });
      await db('incident_counters').insert({ workspace_id: workspaceId, last: 0 }).onConflict().ignore();
      await counter().forUpdate().first('workspace_id');
      await counter().update({ configuration_version: db.raw('configuration_version + 1') });
    },

    /** Returns a status or severity that an incident, active or archived, has and `keys` lacks. */
    async findMissing(column: 'status' | 'severity', keys: readonly string[]): Promise<string | undefined> {
      const row = await db('incidents')
        .where('workspace_id', workspaceId)
        .whereRaw('?? <> all(?)', [column, [...keys]])
        .first<{ key: string } | undefined>(`${column} as key`);
      return row?.key;
    },

    async write({ workflowStatuses, severities, exchangeRates }: ConfigurationChange): Promise<void> {
      const columns = { workflow_statuses: workflowStatuses, severities, exchange_rates: exchangeRates };
      const changed = Object.entries(columns).filter(([, value]) => value !== undefined);
      if (changed.length === 0) return;
      await db('configurations')
        .insert({
          workspace_id: workspaceId,
          ...Object.fromEntries(changed.map(([column, value]) => [column, JSON.stringify(value)])),
        })
        .onConflict('workspace_id')
        .merge(changed.map(([column]) => column));
    },

    /** Sets or clears the end of incidents whose status became terminal or stopped being terminal. */
    async realignEnds(statuses: readonly WorkflowStatus[]): Promise<void> {
      const terminal = statuses.filter(({ isTerminal }) => isTerminal).map(({ key }) => key);
      await db('incidents')
        .where('workspace_id', workspaceId)
        .whereRaw('(ended_at is not null) <> (status = any(?))', [terminal])
        .update({ ended_at: db.raw('case when ended_at is null then coalesce(status_changed_at, created_at) end') });
    },
  };
}
