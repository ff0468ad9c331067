import type { Statement } from '@tocsin/postgres';
import { assignmentsOf, column, type ColumnsOf, insertOf, type Listed, rowMapping } from '@tocsin/versioned-resources';
import { isOfVisibleText } from '../../visibility/store/visible.ts';
import { currentViewer } from '../../visibility/store/viewer.ts';
import { type PostmortemState, WRITTEN_LIMITS, type WrittenPostmortem } from '../domain/written.ts';

const COLUMNS = {
  incidentId: column('incident_id', 'bigint'),
  revision: column('revision', 'bigint'),
  state: column('state', 'text'),
  sections: column('sections', 'jsonb'),
  template: column('template', 'text'),
  createdAt: column('created_at', 'timestamptz'),
  createdBy: column('created_by', 'text'),
  createdByKey: column('created_by_key', 'jsonb'),
  updatedAt: column('updated_at', 'timestamptz'),
  updatedBy: column('updated_by', 'text'),
  updatedByKey: column('updated_by_key', 'jsonb'),
  inReviewAt: column('in_review_at', 'timestamptz'),
  inReviewBy: column('in_review_by', 'text'),
  publishedAt: column('published_at', 'timestamptz'),
  publishedBy: column('published_by', 'text'),
} as const satisfies ColumnsOf<WrittenPostmortem>;

const mapping = rowMapping<WrittenPostmortem, typeof COLUMNS>(COLUMNS);

/** A select list whose rows are written post-mortems. */
export const WRITTEN_SELECTION = mapping.selection;

/** The values of a row, by column. */
export const toWrittenRow = (workspaceId: number, written: WrittenPostmortem): Record<string, unknown> => ({
  workspace_id: workspaceId,
  ...mapping.toRow(written),
});

type OfIncident = Record<'workspaceId' | 'incidentId', number>;

/** What people have written about an incident that the request may see; no row: nobody has begun. */
export const selectWritten = ({ workspaceId, incidentId }: OfIncident): Statement<WrittenPostmortem> => ({
  name: 'find-postmortem',
  text: `select ${WRITTEN_SELECTION} from postmortems
    where workspace_id = $1 and incident_id = $2 and ${isOfVisibleText('postmortems.incident_id', 3)}`,
  values: [workspaceId, incidentId, currentViewer()],
});

export const insertWritten = (workspaceId: number, written: WrittenPostmortem): Statement => ({
  name: 'insert-postmortem',
  ...insertOf('postmortems', toWrittenRow(workspaceId, written)),
});

/** What a former version has of a post-mortem. */
export type FormerPostmortem = Pick<
  WrittenPostmortem,
  'revision' | 'state' | 'sections' | 'updatedAt' | 'updatedBy' | 'updatedByKey'
>;

const KEPT = 'workspace_id, incident_id, revision, state, sections, updated_at, updated_by, updated_by_key';

/** Keeps what post-mortems are, and forgets the oldest of more versions than are kept. */
export const keepWritten = (workspaceId: number, incidentIds: readonly number[]): Statement[] => [
  {
    name: 'keep-postmortems',
    text: `insert into former_postmortems (${KEPT})
      select ${KEPT} from postmortems
      where workspace_id = $1 and incident_id = any((select $2::bigint[])::bigint[])`,
    values: [workspaceId, incidentIds],
  },
  {
    name: 'forget-former-postmortems',
    text: `delete from former_postmortems as former using (
        select incident.id, dropped.revision from unnest((select $2::bigint[])) as incident (id)
        cross join lateral (
          select revision from former_postmortems where workspace_id = $1 and incident_id = incident.id
          order by revision desc offset ${WRITTEN_LIMITS.former} limit 1) as dropped
      ) as last
      where former.workspace_id = $1 and former.incident_id = last.id and former.revision <= last.revision`,
    values: [workspaceId, incidentIds],
  },
];

/** The transaction has locked the incident, under whose lock its post-mortem changes. */
export function updateOfWritten(workspaceId: number, written: WrittenPostmortem): Statement {
  const { workspace_id, incident_id, ...columns } = toWrittenRow(workspaceId, written);
  return {
    name: 'update-postmortem',
    text: `update postmortems set ${assignmentsOf(columns, 3)} where workspace_id = $1 and incident_id = $2`,
    values: [workspace_id, incident_id, ...Object.values(columns)],
  };
}

/** Writes the state in the incident, whose revision stays (ADR 10). */
export const updateState = ({ workspaceId, incidentId }: OfIncident, state: PostmortemState): Statement => ({
  name: 'update-postmortem-state',
  text: 'update incidents set postmortem_state = $3 where workspace_id = $1 and id = $2',
  values: [workspaceId, incidentId, state],
});

const VERSION = `revision, state, updated_at as "updatedAt", updated_by as "updatedBy", updated_by_key as "updatedByKey"`;
const OF_VISIBLE = `from former_postmortems as former where workspace_id = $1 and incident_id = $2
    and ${isOfVisibleText('former.incident_id', 3)}`;

/** Former versions without their texts, the latest first, only those before a revision. */
export const selectFormer = (
  { workspaceId, incidentId }: OfIncident,
  { limit, before }: { limit: number; before: number | undefined },
): Statement<Listed<Omit<FormerPostmortem, 'sections'> & { id: number }>> => ({
  name: 'list-former-postmortems',
  text: `select revision as id, ${VERSION}, null as "largeWeight" ${OF_VISIBLE}
    and ($5::bigint is null or revision < $5) order by revision desc limit $4`,
  values: [workspaceId, incidentId, currentViewer(), limit, before ?? null],
});

export const selectFormerVersion = (
  { workspaceId, incidentId }: OfIncident,
  revision: number,
): Statement<FormerPostmortem> => ({
  name: 'find-former-postmortem',
  text: `select ${VERSION}, sections ${OF_VISIBLE} and revision = $4`,
  values: [workspaceId, incidentId, currentViewer(), revision],
});
