import type { Instant, Knex } from '@tocsin/runtime';
import type { Change } from '../domain/changes.ts';

export interface ChangelogEntry {
  id: number;
  incidentId: number;
  /** The incident's revision that the changes made. */
  revision: number;
  actor: string;
  changedAt: Instant;
  changes: readonly Change[];
}

interface ChangelogRow {
  id: number;
  incident_id: number;
  revision: number;
  actor: string;
  changed_at: Instant;
  changes: Change[];
}

export function changelogStore(db: Knex) {
  return {
    async add(entry: Omit<ChangelogEntry, 'id'>): Promise<void> {
      await db('changelog').insert({
        incident_id: entry.incidentId,
        revision: entry.revision,
        actor: entry.actor,
        changed_at: entry.changedAt,
        changes: JSON.stringify(entry.changes),
      });
    },

    /** An incident's entries before one of them, newest first. */
    async listNewest(options: {
      incidentId: number;
      limit: number;
      before: number | undefined;
    }): Promise<ChangelogEntry[]> {
      const query = db('changelog')
        .where('incident_id', options.incidentId)
        .orderBy('id', 'desc')
        .limit(options.limit)
        .select<ChangelogRow[]>('id', 'incident_id', 'revision', 'actor', 'changed_at', 'changes');
      if (options.before !== undefined) void query.where('id', '<', options.before);
      return (await query).map((row) => ({
        id: row.id,
        incidentId: row.incident_id,
        revision: row.revision,
        actor: row.actor,
        changedAt: row.changed_at,
        changes: row.changes,
      }));
    },
  };
}
