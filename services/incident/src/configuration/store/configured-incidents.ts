import { type Knex, query } from '@tocsin/postgres';
import type { WorkflowStatus } from '../domain/configuration.ts';

/** Keys of statuses and severities. */
export interface Keys {
  status: readonly string[];
  severity: readonly string[];
}

/** The incidents of one workspace, by their statuses and severities, over a pool or a transaction. */
export function configuredIncidents(db: Knex, workspaceId: number) {
  return {
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
