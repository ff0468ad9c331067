import { column, type ColumnsOf, insertOf, type Listed, listedColumns, readWhole, rowMapping } from '@tocsin/resources';
import type { Knex, PreparedStatement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Change } from '../domain/changes.ts';

export interface ChangelogEntry {
  id: number;
  incidentId: number;
  /** The incident's revision after the changes. */
  revision: number;
  actor: string;
  /** The API key with which the actor made the changes, as it was then; null if the system made them, or not known. */
  keyName: string | null;
  keyPrefix: string | null;
  changedAt: Instant;
  changes: readonly Change[];
}

const COLUMNS = {
  id: column('id', 'bigint'),
  incidentId: column('incident_id', 'bigint'),
  revision: column('revision', 'bigint'),
  actor: column('actor', 'text'),
  keyName: column('api_key_name', 'text'),
  keyPrefix: column('api_key_prefix', 'text'),
  changedAt: column('changed_at', 'timestamptz'),
  changes: column('changes', 'jsonb'),
} as const satisfies ColumnsOf<ChangelogEntry>;

const mapping = rowMapping<ChangelogEntry, typeof COLUMNS>(COLUMNS);

/** Entries of earlier releases contain large values. */
const LISTED_COLUMNS = listedColumns({
  table: 'changelog',
  names: mapping.names,
  as: mapping.propertyOf,
  large: { changes: 'jsonb' },
});

export const insertChangelogEntry = (entry: Omit<ChangelogEntry, 'id'>): PreparedStatement => ({
  name: 'insert-changelog-entry',
  ...insertOf('changelog', mapping.toRow(entry)),
});

export const insertChangelogEntries = (entries: readonly Omit<ChangelogEntry, 'id'>[]): PreparedStatement => ({
  name: 'insert-changelog-entries',
  text: `insert into changelog (incident_id, revision, actor, changed_at, changes, api_key_name, api_key_prefix)
    select incident_id, revision, actor, changed_at, changes, api_key_name, api_key_prefix
    from unnest($1::bigint[], $2::bigint[], $3::text[], $4::timestamptz[], $5::jsonb[], $6::text[], $7::text[])
      with ordinality as entry (incident_id, revision, actor, changed_at, changes, api_key_name, api_key_prefix, place)
    order by place`,
  values: [
    entries.map(({ incidentId }) => incidentId),
    entries.map(({ revision }) => revision),
    entries.map(({ actor }) => actor),
    entries.map(({ changedAt }) => changedAt),
    entries.map(({ changes }) => JSON.stringify(changes)),
    entries.map(({ keyName }) => keyName),
    entries.map(({ keyPrefix }) => keyPrefix),
  ],
});

export function changelogStore(db: Knex) {
  return {
    /** Lists an incident's newest entries, only those before the entry `before` if it is given. */
    async listNewest(options: {
      incidentId: number;
      limit: number;
      before: number | undefined;
    }): Promise<Listed<ChangelogEntry>[]> {
      const query = db('changelog')
        .where('incident_id', options.incidentId)
        .orderBy('id', 'desc')
        .limit(options.limit)
        .select<Listed<ChangelogEntry>[]>(db.raw(LISTED_COLUMNS));
      if (options.before !== undefined) void query.where('id', '<', options.before);
      return query;
    },

    /** The listed entries with their changes, a few at a time. */
    readWhole: (listed: readonly Listed<ChangelogEntry>[]) =>
      readWhole(listed, async (ids) =>
        db('changelog').whereIn('id', ids).select<ChangelogEntry[]>(db.raw(mapping.selection)),
      ),
  };
}
