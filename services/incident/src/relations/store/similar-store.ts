import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Incident } from '../../incidents/domain/incident.ts';
import { currentViewer, noteRead } from '../../visibility/store/viewer.ts';
import { visible } from '../../visibility/store/visible.ts';

/** How many of the latest incidents are compared, and of those of the service: what bounds a request (ADR 128). */
export const MAX_LATEST = 2_000;
const MAX_OF_SERVICE = 1_000;

export interface ComparedIncident {
  id: number;
  titleFolded: string;
  serviceFolded: string | null;
}

const COMPARED = 'id, title_folded, service_folded';
const IS_SHOWN = `workspace_id = $1 and archived_at is null and ${visible('incidents', 2)}`;
const NOT_BEFORE = `created_at >= coalesce($3::timestamptz, '-infinity')`;

// Both parts read along an index, until they have enough. Those of the service are in the order of their IDs, so the
// history limit is compared afterwards: it must not have them walk through all that are older.
const READ_COMPARED = `
  select id, title_folded as "titleFolded", service_folded as "serviceFolded" from (
    (select ${COMPARED} from incidents where ${IS_SHOWN} and ${NOT_BEFORE}
     order by created_at desc, id desc limit ${MAX_LATEST})
    union
    select ${COMPARED} from (
      select ${COMPARED}, created_at from incidents where ${IS_SHOWN} and service_folded = $4
      order by id desc limit ${MAX_OF_SERVICE}) as of_service
    where ${NOT_BEFORE}) as compared`;

/** The latest incidents that the request may see, and those of a service, in any order; archived ones are left out. */
export const readCompared = async (
  db: Knex,
  workspaceId: number,
  { serviceFolded, from }: { serviceFolded: string | null; from: Instant | null },
): Promise<ComparedIncident[]> =>
  query<ComparedIncident>(db, {
    name: 'read-compared-incidents',
    text: READ_COMPARED,
    values: [workspaceId, currentViewer(), from, serviceFolded],
  });

export type SimilarIncident = Pick<
  Incident,
  'id' | 'number' | 'title' | 'status' | 'severity' | 'service' | 'createdAt' | 'restricted'
>;

/** Those of the incidents that are still there for the request. */
export async function readSimilar(db: Knex, workspaceId: number, ids: readonly number[]): Promise<SimilarIncident[]> {
  const incidents = await query<SimilarIncident>(db, {
    name: 'read-similar-incidents',
    text: `select id, number, title, status, severity, service, created_at as "createdAt", restricted from incidents
      where ${IS_SHOWN} and id = any((select $3::bigint[])::bigint[])`,
    values: [workspaceId, currentViewer(), ids],
  });
  noteRead(incidents);
  return incidents;
}
