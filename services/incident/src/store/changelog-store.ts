import { column, type ColumnsOf, type RowOf, rowMapping } from '@tocsin/resources';
import type { Instant, Knex } from '@tocsin/runtime';
import type { Change } from '../domain/changes.ts';

export interface ChangelogEntry {
  id: number;
  incidentId: number;
  /** The incident's revision after the changes. */
  revision: number;
  actor: string;
  changedAt: Instant;
  changes: readonly Change[];
}

const COLUMNS = {
  id: column('id', 'bigint'),
  incidentId: column('incident_id', 'bigint'),
  revision: column('revision', 'bigint'),
  actor: column('actor', 'text'),
  changedAt: column('changed_at', 'timestamptz'),
  changes: column('changes', 'jsonb'),
} as const satisfies ColumnsOf<ChangelogEntry>;

const mapping = rowMapping<ChangelogEntry, typeof COLUMNS>(COLUMNS);

export function changelogStore(db: Knex) {
  return {
    async add(entry: Omit<ChangelogEntry, 'id'>): Promise<void> {
      await db('changelog').insert(mapping.toRow(entry));
    },

    /** Returns an incident's newest entries, only those before the entry `before` if it is given. */
    async listNewest(options: {
      incidentId: number;
      limit: number;
      before: number | undefined;
    }): Promise<ChangelogEntry[]> {
      const query = db('changelog')
        .where('incident_id', options.incidentId)
        .orderBy('id', 'desc')
        .limit(options.limit)
        .select<RowOf<ChangelogEntry, typeof COLUMNS>[]>(mapping.names);
      if (options.before !== undefined) void query.where('id', '<', options.before);
      return (await query).map(mapping.toEntity);
    },
  };
}
