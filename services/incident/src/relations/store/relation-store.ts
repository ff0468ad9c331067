import { createHash } from 'node:crypto';
import { notFound } from '@tocsin/http';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Incident } from '../../incidents/domain/incident.ts';
import { visible } from '../../visibility/store/visible.ts';
import { currentViewer } from '../../visibility/store/viewer.ts';
import { type GivenType, inverseOf, MAX_VISITED, type Relation, type RelationType } from '../domain/relation.ts';

interface Row extends Omit<Relation, 'related'> {
  relatedId: number;
  number: number;
  title: string;
  severity: string;
  status: string;
}

const SELECT = `
  select relation.id, relation.type, relation.created_at as "createdAt", relation.created_by as "createdBy",
    relation.created_by_key as "createdByKey",
    related.id as "relatedId", related.number, related.title, related.severity, related.status
  from incident_relations as relation join incidents as related
    on related.workspace_id = relation.workspace_id and related.id = relation.related_id
  where relation.workspace_id = $1 and relation.incident_id = $2 and ${visible('related', 3)}`;

const toRelation = ({ relatedId, number, title, severity, status, ...relation }: Row): Relation => ({
  ...relation,
  related: { id: relatedId, number, title, severity, status },
});

/**
 * Makes the additions of duplicates in a workspace take turns: two that lock different incidents could close a circle
 * together. Comes before the locks of incidents. No other advisory lock has this number, as that of a key (ADR 4).
 */
export const lockDuplicates = (workspaceId: number): Statement => ({
  name: 'lock-duplicates',
  text: 'select pg_advisory_xact_lock($1::bigint)',
  values: [
    createHash('sha256')
      .update(JSON.stringify(['duplicates', workspaceId]))
      .digest()
      .readBigInt64BE()
      .toString(),
  ],
});

/** Follows the duplicates from `fromId`, which counts, and looks for `incidentId`. `limit` ends the recursion. */
const WALK = `
  with recursive walk (id) as (
    select $3::bigint
    union
    select next.related_id from walk cross join lateral (
      select related_id from incident_relations
      where workspace_id = $1 and incident_id = walk.id and type = 'duplicate_of' offset 0) as next
  ), visited as materialized (select id from walk limit ${MAX_VISITED + 1})
  select count(*) as visited, coalesce(bool_or(id = $2), false) as "isCircle" from visited`;

interface Pair {
  incidentId: number;
  type: GivenType;
  relatedId: number;
}

/** Takes the ID of a relation, and counts those of the type of both incidents, which the transaction has locked. */
export const nextRelation = (
  workspaceId: number,
  { incidentId, type, relatedId }: Pair,
): Statement<{ id: number; ofType: number; ofInverse: number }> => ({
  name: 'next-relation',
  text: `select nextval('incident_relations_id_seq') as id,
      (select count(*) from incident_relations
       where workspace_id = $1 and incident_id = $2 and type = $3) as "ofType",
      (select count(*) from incident_relations
       where workspace_id = $1 and incident_id = $4 and type = $5) as "ofInverse"`,
  values: [workspaceId, incidentId, type, relatedId, inverseOf(type)],
});

export const insertRelation = (
  workspaceId: number,
  { incidentId, type, relatedId }: Pair,
  { id, createdAt, createdBy, createdByKey }: Omit<Relation, 'type' | 'related'>,
): Statement => ({
  name: 'insert-relation',
  text: `insert into incident_relations
      (workspace_id, id, incident_id, type, related_id, created_at, created_by, created_by_key)
    values ($1, $2, $3, $4, $5, $7, $8, $9::jsonb), ($1, $2, $5, $6, $3, $7, $8, $9::jsonb)`,
  values: [
    workspaceId,
    id,
    incidentId,
    type,
    relatedId,
    inverseOf(type),
    createdAt,
    createdBy,
    createdByKey && JSON.stringify(createdByKey),
  ],
});

/** Deletes both rows. */
export const deleteRelation = (workspaceId: number, incidentId: number, { id, related }: Relation): Statement => ({
  name: 'delete-relation',
  text: 'delete from incident_relations where workspace_id = $1 and incident_id in ($2, $3) and id = $4',
  values: [workspaceId, incidentId, related.id, id],
});

/** The relations of an incident of the workspace. */
export function relationStore(db: Knex, { workspaceId, id: incidentId }: Pick<Incident, 'workspaceId' | 'id'>) {
  return {
    list: async (after: number, limit: number): Promise<Relation[]> =>
      (
        await query<Row>(db, {
          name: 'list-relations',
          text: `${SELECT} and relation.id > $4 order by relation.id limit $5`,
          values: [workspaceId, incidentId, currentViewer(), after, limit],
        })
      ).map(toRelation),

    /** @throws DomainError `not_found` */
    async get(id: number): Promise<Relation> {
      const [row] = await query<Row>(db, {
        name: 'get-relation',
        text: `${SELECT} and relation.id = $4`,
        values: [workspaceId, incidentId, currentViewer(), id],
      });
      if (row === undefined) throw notFound('The relation');
      return toRelation(row);
    },

    async find(type: RelationType, relatedId: number): Promise<Relation | undefined> {
      const text = `${SELECT} and relation.type = $4 and relation.related_id = $5`;
      const values = [workspaceId, incidentId, currentViewer(), type, relatedId];
      const [row] = await query<Row>(db, { name: 'find-relation', text, values });
      return row && toRelation(row);
    },

    /** Whether `fromId` is a duplicate of the incident, directly or through others. */
    async walk(fromId: number): Promise<{ visited: number; isCircle: boolean }> {
      const [walked] = await query<{ visited: number; isCircle: boolean }>(db, {
        name: 'walk-duplicates',
        text: WALK,
        values: [workspaceId, incidentId, fromId],
      });
      return walked as { visited: number; isCircle: boolean };
    },

    /** Whether the incident has a relation of the type besides one. */
    async hasAnother(type: RelationType, id: number): Promise<boolean> {
      const others = await query(db, {
        name: 'find-another-relation',
        text: `select id from incident_relations
          where workspace_id = $1 and incident_id = $2 and type = $3 and id <> $4 limit 1`,
        values: [workspaceId, incidentId, type, id],
      });
      return others.length > 0;
    },
  };
}
