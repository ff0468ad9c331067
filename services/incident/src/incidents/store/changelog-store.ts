import {
  column,
  type ColumnsOf,
  insertOf,
  type Listed,
  listedColumns,
  readWhole,
  rowMapping,
} from '@tocsin/versioned-resources';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { invalidRequest } from '@tocsin/http';
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
  /** By what a further import recognises an entry that an import brought. */
  importKey: string | null;
  /** Whether it is about timeline events or a follow-up, and no property of the incident. */
  isOfParts: boolean;
}

/** The key of what an import itself changed; other changes that were made here have null. */
export const BY_IMPORT = '';

const COLUMNS = {
  id: column('id', 'bigint'),
  incidentId: column('incident_id', 'bigint'),
  revision: column('revision', 'bigint'),
  actor: column('actor', 'text'),
  keyName: column('api_key_name', 'text'),
  keyPrefix: column('api_key_prefix', 'text'),
  changedAt: column('changed_at', 'timestamptz'),
  changes: column('changes', 'jsonb'),
  importKey: column('import_key', 'text'),
  isOfParts: column('is_of_parts', 'boolean'),
} as const satisfies ColumnsOf<ChangelogEntry>;

export const changelogMapping = rowMapping<ChangelogEntry, typeof COLUMNS>(COLUMNS);

/** Entries of earlier releases contain large values. */
export const LISTED_CHANGELOG_COLUMNS = listedColumns({
  table: 'changelog',
  names: changelogMapping.names,
  as: changelogMapping.propertyOf,
  large: { changes: 'jsonb' },
});

export const insertChangelogEntry = (workspaceId: number, entry: Omit<ChangelogEntry, 'id'>): Statement => ({
  name: 'insert-changelog-entry',
  ...insertOf('changelog', { workspace_id: workspaceId, ...changelogMapping.toRow(entry) }),
});

const INSERTED =
  'incident_id, revision, actor, changed_at, changes, api_key_name, api_key_prefix, import_key, is_of_parts';

export const insertChangelogEntries = (
  workspaceId: number,
  entries: readonly Omit<ChangelogEntry, 'id'>[],
): Statement => ({
  name: 'insert-changelog-entries',
  text: `insert into changelog (workspace_id, ${INSERTED})
    select $1, ${INSERTED}
    from unnest(
        $2::bigint[], $3::bigint[], $4::text[], $5::timestamptz[], $6::jsonb[], $7::text[], $8::text[], $9::text[],
        $10::boolean[])
      with ordinality as entry (${INSERTED}, place)
    order by place`,
  values: [
    workspaceId,
    entries.map(({ incidentId }) => incidentId),
    entries.map(({ revision }) => revision),
    entries.map(({ actor }) => actor),
    entries.map(({ changedAt }) => changedAt),
    entries.map(({ changes }) => JSON.stringify(changes)),
    entries.map(({ keyName }) => keyName),
    entries.map(({ keyPrefix }) => keyPrefix),
    entries.map(({ importKey }) => importKey),
    entries.map(({ isOfParts }) => isOfParts),
  ],
});

/** Bytes of changes that are undone at once (contract: Changelog); an entry counts as some at least, a compressed one as the largest. */
const MAX_UNDONE = 67_108_864;
const LEAST_ENTRY = 512;
const COMPRESSED_ENTRY = 65_536;

/** What other systems said of their past was never a state here. Timeline and follow-ups are not undone, nor weighed. */
const CHANGED_SINCE = `workspace_id = $1 and incident_id = $2 and revision > $3 and not is_of_parts
  and coalesce(import_key, '${BY_IMPORT}') = '${BY_IMPORT}'`;

const WEIGH_CHANGES = `
  select coalesce(sum(case when pg_column_compression(changes) is null
    then greatest(pg_column_size(changes), ${LEAST_ENTRY}) else ${COMPRESSED_ENTRY} end), 0)::bigint as bytes
  from changelog where ${CHANGED_SINCE}`;

/** A change that is not the addition of a timeline event. */
const BESIDES_NEW_EVENTS = '$[*] ? (!(@.field like_regex "^timeline_events\\.[0-9]+$" && @.from == null))';

const FIND_REPLACED = `
  select change ->> 'field' as field, change -> 'from' as "from"
  from (
    select change ->> 'field' as field, min(id) as id
    from changelog cross join lateral jsonb_array_elements(changes) as change
    where ${CHANGED_SINCE} group by 1
  ) as first
  join changelog on changelog.workspace_id = $1 and changelog.id = first.id
  cross join lateral jsonb_array_elements(changelog.changes) as change
  where change ->> 'field' = first.field`;

/** The changelogs of the incidents of one workspace, over a pool or a transaction. */
export function changelogStore(db: Knex, workspaceId: number) {
  return {
    /**
     * For each property that has changed since a revision of an incident, the value before the first of these changes.
     * @throws DomainError `invalid_request` if there are too many
     */
    async findReplaced(incidentId: number, revision: number): Promise<Pick<Change, 'field' | 'from'>[]> {
      const values = [workspaceId, incidentId, revision];
      const [weighed] = await query<{ bytes: number }>(db, { name: 'weigh-changes', text: WEIGH_CHANGES, values });
      if ((weighed?.bytes ?? 0) > MAX_UNDONE) {
        throw invalidRequest('at_revision', 'Must be later: there are too many changes since then');
      }
      return query(db, { name: 'find-replaced-values', text: FIND_REPLACED, values });
    },

    /** Lists an incident's entries, only those behind the entry `after` if it is given. */
    async list(options: {
      incidentId: number;
      order: 'asc' | 'desc';
      limit: number;
      after: number | undefined;
      newEvents: boolean;
    }): Promise<Listed<ChangelogEntry>[]> {
      const { order, after } = options;
      const entries = db('changelog')
        .where({ workspace_id: workspaceId, incident_id: options.incidentId })
        .orderBy('id', order)
        .limit(options.limit)
        .select<Listed<ChangelogEntry>[]>(db.raw(LISTED_CHANGELOG_COLUMNS));
      if (after !== undefined) void entries.where('id', order === 'asc' ? '>' : '<', after);
      if (!options.newEvents)
        void entries.whereRaw(`not (is_of_parts and not jsonb_path_exists(changes, ?))`, BESIDES_NEW_EVENTS);
      return entries;
    },

    /** The listed entries with their changes, a few at a time. */
    readWhole: (listed: readonly Listed<ChangelogEntry>[]) =>
      readWhole(listed, async (ids) =>
        query<ChangelogEntry>(db, {
          name: 'find-changelog-entries',
          text: `select ${changelogMapping.selection} from changelog
            where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])`,
          values: [workspaceId, ids],
        }),
      ),
  };
}
