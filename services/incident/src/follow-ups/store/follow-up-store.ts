import { fold } from '@tocsin/schemas';
import { notFound } from '@tocsin/http';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import { column, type ColumnsOf, insertOf, listedColumns, rowMapping } from '@tocsin/versioned-resources';
import { ownProperty } from '@tocsin/runtime';
import type { FollowUp } from '../domain/follow-up.ts';
import { isOfVisibleText } from '../../visibility/store/visible.ts';
import { currentViewer } from '../../visibility/store/viewer.ts';

const COLUMNS = {
  id: column('id', 'bigint'),
  revision: column('revision', 'bigint'),
  incidentId: column('incident_id', 'bigint'),
  title: column('title', 'text'),
  description: column('description', 'text'),
  owner: column('owner', 'text'),
  dueOn: column('due_on', 'text'),
  status: column('status', 'text'),
  externalUrl: column('external_url', 'text'),
  createdAt: column('created_at', 'timestamptz'),
  createdBy: column('created_by', 'text'),
  createdByKey: column('created_by_key', 'jsonb'),
  completedAt: column('completed_at', 'timestamptz'),
  updatedAt: column('updated_at', 'timestamptz'),
  externalId: column('external_id', 'text'),
} as const satisfies ColumnsOf<FollowUp>;

const mapping = rowMapping<FollowUp, typeof COLUMNS>(COLUMNS);

/** A select list whose rows are follow-ups. */
export const FOLLOW_UP_SELECTION = mapping.selection;

/** The select list of lists from `follow_up`; a large description is left out. */
export const LISTED_FOLLOW_UP_COLUMNS = listedColumns({
  table: 'follow_up',
  names: mapping.names,
  as: mapping.propertyOf,
  large: { description: 'text' },
});

/** The values of a row, by column. */
export const toFollowUpColumns = (workspaceId: number, followUp: FollowUp): Record<string, unknown> => ({
  ...mapping.toRow(followUp),
  texts_folded: [followUp.title, followUp.description].map(fold),
  workspace_id: workspaceId,
});

/** Takes the ID of a follow-up, and counts those of the incident, which the transaction has locked. */
export const nextFollowUp = (workspaceId: number, incidentId: number): Statement<{ id: number; count: number }> => ({
  name: 'next-follow-up',
  text: `select nextval('follow_ups_id_seq') as id,
    (select count(*) from follow_ups where workspace_id = $1 and incident_id = $2) as count`,
  values: [workspaceId, incidentId],
});

export const insertFollowUp = (workspaceId: number, followUp: FollowUp): Statement => ({
  name: 'insert-follow-up',
  ...insertOf('follow_ups', toFollowUpColumns(workspaceId, followUp)),
});

const UPDATED = [...mapping.names.filter((name) => name !== 'id'), 'texts_folded'];
const ASSIGNMENTS = UPDATED.map((name, index) => `${name} = $${index + 3}`).join(', ');

/** The transaction has locked the incident, under whose lock follow-ups change. */
export function updateOfFollowUp(workspaceId: number, followUp: FollowUp): Statement {
  const columns = toFollowUpColumns(workspaceId, followUp);
  return {
    name: 'update-follow-up',
    text: `update follow_ups set ${ASSIGNMENTS} where workspace_id = $1 and id = $2`,
    values: [workspaceId, followUp.id, ...UPDATED.map((name) => ownProperty(columns, name))],
  };
}

export const deletionOfFollowUp = (workspaceId: number, id: number): Statement => ({
  name: 'delete-follow-up',
  text: 'delete from follow_ups where workspace_id = $1 and id = $2',
  values: [workspaceId, id],
});

const IS_VISIBLE = isOfVisibleText('follow_ups.incident_id', 3);
const SELECT = `select ${FOLLOW_UP_SELECTION} from follow_ups where workspace_id = $1 and ${IS_VISIBLE} and id = `;

/** The follow-ups of one workspace, over a pool or a transaction. */
export function followUpStore(db: Knex, workspaceId: number) {
  const one = <Row>([row]: Row[]): Row => {
    if (row === undefined) throw notFound('The follow-up');
    return row;
  };
  return {
    /** @throws DomainError `not_found` */
    get: async (id: number): Promise<FollowUp> =>
      one(
        await query<FollowUp>(db, {
          name: 'get-follow-up',
          text: `${SELECT} $2`,
          values: [workspaceId, id, currentViewer()],
        }),
      ),

    /** Returns the incident, which never changes. @throws DomainError `not_found` */
    async getIncidentId(id: number): Promise<number> {
      const rows = await query<{ incidentId: number }>(db, {
        name: 'find-incident-of-follow-up',
        text: `select incident_id as "incidentId" from follow_ups
          where workspace_id = $1 and id = $2 and ${IS_VISIBLE}`,
        values: [workspaceId, id, currentViewer()],
      });
      return one(rows).incidentId;
    },

    readWhole: async (ids: readonly number[]): Promise<FollowUp[]> =>
      query<FollowUp>(db, {
        name: 'get-follow-ups',
        text: `${SELECT} any((select $2::bigint[])::bigint[])`,
        values: [workspaceId, ids, currentViewer()],
      }),
  };
}
