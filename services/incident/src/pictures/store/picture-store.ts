import { notFound } from '@tocsin/http';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { column, type ColumnsOf, insertOf, rowMapping } from '@tocsin/versioned-resources';
import { noteRead, currentViewer } from '../../visibility/store/viewer.ts';
import { visible } from '../../visibility/store/visible.ts';
import { type Picture, PICTURE_LIMITS } from '../domain/picture.ts';

const COLUMNS = {
  id: column('id', 'bigint'),
  incidentId: column('incident_id', 'bigint'),
  eventId: column('timeline_event_id', 'bigint'),
  filename: column('filename', 'text'),
  contentType: column('content_type', 'text'),
  sizeBytes: column('size_bytes', 'bigint'),
  width: column('width', 'bigint'),
  height: column('height', 'bigint'),
  createdAt: column('created_at', 'timestamptz'),
  createdBy: column('created_by', 'text'),
} as const satisfies ColumnsOf<Picture>;

const mapping = rowMapping<Picture, typeof COLUMNS>(COLUMNS);

/** Pictures of an incident, with those that no event has. */
export const countPictures = (workspaceId: number, incidentId: number): Statement<{ count: number }> => ({
  name: 'count-pictures',
  text: 'select count(*) from pictures where workspace_id = $1 and incident_id = $2',
  values: [workspaceId, incidentId],
});

/** Takes the ID of an attachment. */
export const NEXT_PICTURE_ID: Statement<{ id: number }> = {
  name: 'next-picture-id',
  text: "select nextval('timeline_attachments_id_seq') as id",
  values: [],
};

/** Stores a picture. @param bytes.digest of what an import gave */
export const insertPicture = (
  workspaceId: number,
  picture: Picture,
  bytes: { content: Uint8Array; thumbnail: Uint8Array; digest?: Buffer },
): Statement => ({
  name: 'insert-picture',
  ...insertOf('pictures', {
    ...mapping.toRow(picture),
    ...{ workspace_id: workspaceId, content: bytes.content, thumbnail: bytes.thumbnail },
    source_digest: bytes.digest ?? null,
    unused_since: picture.eventId === null ? picture.createdAt : null,
  }),
});

/** Locks those of some pictures that an incident has; the transaction must have locked the incident. */
export const lockPictures = (workspaceId: number, incidentId: number, ids: readonly number[]): Statement<Picture> => ({
  name: 'lock-pictures',
  text: `select ${mapping.selection} from pictures
    where workspace_id = $1 and incident_id = $2 and id = any((select $3::bigint[])::bigint[]) order by id for update`,
  values: [workspaceId, incidentId, ids],
});

interface PictureFile {
  contentType: string;
  bytes: Buffer;
}

/** Reads the bytes of a picture, or of its thumbnail. @throws DomainError `not_found`, also while its event is deleted */
export async function getFile(
  db: Knex,
  { workspaceId, id, isThumbnail }: { workspaceId: number; id: number; isThumbnail: boolean },
): Promise<PictureFile> {
  const [file] = await query<PictureFile & { incidentId: number; restricted: boolean }>(db, {
    name: isThumbnail ? 'get-thumbnail' : 'get-picture',
    text: `select content_type as "contentType", ${isThumbnail ? 'thumbnail' : 'content'} as bytes,
        incident.id as "incidentId", incident.restricted
      from pictures join incidents as incident
        on incident.workspace_id = pictures.workspace_id and incident.id = pictures.incident_id
      where pictures.workspace_id = $1 and pictures.id = $2 and ${visible('incident', 3)}
        and (unused_since is not null or exists (
          select from timeline_attachments as file where file.workspace_id = $1 and file.id = $2))`,
    values: [workspaceId, id, currentViewer()],
  });
  if (file === undefined) throw notFound('The picture');
  noteRead([{ id: file.incidentId, restricted: file.restricted }]);
  return file;
}

/** Pictures of one statement. */
const BATCH = 500;

/** Deletes pictures that no event has had for a day. Returns whether there are more. */
export async function sweepPictures(database: Knex, now: Instant): Promise<boolean> {
  const deleted = await query(database, {
    text: `delete from pictures where (workspace_id, id) in (
        select workspace_id, id from pictures where unused_since < $1::timestamptz - make_interval(hours => $2)
        order by unused_since limit ${BATCH} for update skip locked)
      returning 1 as deleted`,
    values: [now, PICTURE_LIMITS.unusedHours],
  });
  return deleted.length === BATCH;
}
