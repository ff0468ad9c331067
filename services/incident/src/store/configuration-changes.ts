import type { Instant, Knex } from '@tocsin/runtime';
import type { Severity, WorkflowStatus } from '../domain/configuration.ts';

/** What is kept of a workspace's configuration; what is left out stays as it is. */
export interface ConfigurationChange {
  workflowStatuses?: readonly WorkflowStatus[];
  severities?: readonly Severity[];
  /** Units of the reporting currency for one unit of each. */
  exchangeRates?: Readonly<Record<string, { rate: number; asOf: Instant }>>;
}

/** Changes of one workspace's configuration, over a pool or a transaction. */
export function configurationChanges(db: Knex, workspaceId: number) {
  return {
    /** One that incidents have, archived ones too, and that is not among `keys`. */
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
      await db('configurations')
        .insert({
          workspace_id: workspaceId,
          ...Object.fromEntries(changed.map(([column, value]) => [column, JSON.stringify(value)])),
        })
        .onConflict('workspace_id')
        // Without a change it still locks the row, so that two commands come one after the other.
        .merge(['workspace_id', ...changed.map(([column]) => column)]);
    },

    /** A status that is terminal from now on has ended its incidents when they came into it; one that no longer is has not. */
    async realignEnds(statuses: readonly WorkflowStatus[]): Promise<void> {
      const terminal = statuses.filter(({ isTerminal }) => isTerminal).map(({ key }) => key);
      await db('incidents')
        .where('workspace_id', workspaceId)
        .whereRaw('(ended_at is not null) <> (status = any(?))', [terminal])
        .update({ ended_at: db.raw('case when ended_at is null then coalesce(status_changed_at, created_at) end') });
    },
  };
}
