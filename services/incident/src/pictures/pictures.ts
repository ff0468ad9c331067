/**
 * `pictures` is the pictures of incidents, which events of the timeline have as attachments (contract: Pictures). An upload
 * checks what it can before the bytes are decoded, outside of the transaction and of this process
 * (`clients/picture-encoder.ts`): nothing is stored but pixels that were encoded again (ADR 126). The transaction locks
 * the incident, counts its pictures again, and inserts the row with its thumbnail; the incident keeps its revision. The
 * picture has an ID of the sequence of attachments, and no event. A create or an edit of an event takes it
 * (`timeline-events.ts`) under the lock of the incident, and its row as well, so that the sweep, which deletes what no
 * event has had for a day, passes it by. A deleted event keeps its pictures for its restoration. The row is deleted with
 * its incident. A crash leaves a picture that no event has, or nothing.
 */
import type { KeyedOutcome } from '@tocsin/http';
import { pipeline, query } from '@tocsin/postgres';
import type { Caller } from '@tocsin/versioned-resources';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { creatorOf } from '../incidents/save-incident.ts';
import { incidentStore, lockIncident, requireIncident } from '../incidents/store/incident-store.ts';
import type { PictureEncoder } from './clients/picture-encoder.ts';
import { checkRoomForPicture, formatOf, nameOf, type Picture } from './domain/picture.ts';
import { countPictures, insertPicture, NEXT_PICTURE_ID } from './store/picture-store.ts';

export interface PictureDependencies extends CommandDependencies {
  encoder: PictureEncoder;
}

interface UploadCommand extends Caller {
  incidentId: number;
  bytes: Buffer;
  filename: string | undefined;
  outcome: KeyedOutcome<Picture> | undefined;
}

/**
 * Adds a picture to an active incident, which events may have then (contract: Pictures).
 * @throws DomainError `not_found`, `invalid_resource_state`, `invalid_request`, `service_unavailable`
 */
export async function uploadPicture(dependencies: PictureDependencies, command: UploadCommand): Promise<Picture> {
  const { database, encoder } = dependencies;
  const { principal, incidentId, bytes, filename, outcome } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    outcome,
    prepares: async ({ checkStorage }) => {
      checkWritable(await incidentStore(database, workspace.id).get(incidentId));
      const [counted] = await query(database, countPictures(workspace.id, incidentId));
      checkRoomForPicture(counted?.count ?? 0);
      checkStorage('addition');
      const { mediaType, name } = formatOf(bytes);
      return { mediaType, encoded: await encoder.encode(workspace.id, { bytes, format: name }) };
    },
    reads: async (trx) => {
      const [incidents, [counted], [next]] = await pipeline(trx, [
        lockIncident(workspace.id, incidentId),
        countPictures(workspace.id, incidentId),
        NEXT_PICTURE_ID,
      ]);
      const { count } = counted as { count: number };
      return { incident: requireIncident(incidents), count, id: (next as { id: number }).id };
    },
    decides: ({ incident, id, count }, { prepared: { mediaType, encoded }, now }) => {
      checkWritable(incident);
      checkRoomForPicture(count);
      const { content, width, height } = encoded;
      const picture: Picture = {
        ...{ id, incidentId, eventId: null, width, height, createdAt: now },
        filename: filename ?? nameOf(mediaType),
        contentType: mediaType,
        sizeBytes: content.length,
        createdBy: creatorOf(command).createdBy,
      };
      return { stores: [insertPicture(workspace.id, picture, encoded)], answer: () => picture };
    },
  });
}
