import { createHash } from 'node:crypto';
import { invalidRequest, invalidState } from '@tocsin/http';
import { insertEvents } from '@tocsin/messaging';
import { type Knex, pipeline, query } from '@tocsin/postgres';
import type { Caller } from '@tocsin/versioned-resources';
import { shortenChanges } from '../incidents/domain/changes.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { type Decision, runCommand } from '../incidents/run-command.ts';
import { authorOf, creatorOf } from '../incidents/save-incident.ts';
import { insertChangelogEntries } from '../incidents/store/changelog-store.ts';
import { updateOfIncident } from '../incidents/store/incident-store.ts';
import { checkRoomForPicture, formatOf, type Picture, PICTURE_LIMITS } from '../pictures/domain/picture.ts';
import type { PictureDependencies } from '../pictures/pictures.ts';
import { countPictures, insertPicture, NEXT_PICTURE_ID } from '../pictures/store/picture-store.ts';
import { attachmentOf } from '../timeline/store/attachment-store.ts';
import { keepEvents } from '../timeline/store/former-event-store.ts';
import { placeOfEvent } from '../timeline/domain/timeline-event.ts';
import { lockByExternalIds } from './store/import-store.ts';
import { attachImported, findImportedEvent, findPictures, raiseRevision } from './store/picture-transfer-store.ts';
import { importEntry, importEvent } from './write-items.ts';

interface ImportPictureCommand extends Caller {
  /** Of the incident and of its event. */
  externalId: string;
  eventExternalId: string;
  filename: string;
  bytes: Buffer;
}

/** What became of a picture; `id` is that of the attachment. */
interface ImportedPicture {
  outcome: 'created' | 'unchanged';
  id: number;
}

/**
 * Adds a picture to an event of an imported incident, archived or not (contract: Import). The same bytes for the same event
 * are the same picture.
 * @throws DomainError `invalid_request`, `invalid_resource_state`, `service_unavailable`
 */
export async function importPicture(
  dependencies: PictureDependencies,
  command: ImportPictureCommand,
): Promise<ImportedPicture> {
  const { database, encoder } = dependencies;
  const { principal, externalId, filename, bytes } = command;
  const { workspace } = principal;
  const author = authorOf(command);
  const digest = createHash('sha256').update(bytes).digest();
  const readState = async (db: Knex, incident: (Incident & { isVisible: boolean }) | undefined) => {
    if (incident?.isVisible !== true || incident.importedAt === null)
      throw invalidRequest('id', 'Must be the ID of an incident that an import made');
    const [event] = await query(db, findImportedEvent(incident, command.eventExternalId));
    if (event === undefined) throw invalidRequest('event', 'Must be the external ID of an event of the incident');
    return { incident, event, pictures: await query(db, findPictures(workspace.id, event.id, digest)) };
  };
  const locked = lockByExternalIds(workspace.id, [externalId]);
  return runCommand(dependencies, {
    workspace,
    prepares: async ({ checkStorage }) => {
      const { mediaType, name } = formatOf(bytes);
      // The lock ends at once: nobody waits for the encoder.
      const { pictures } = await database.transaction(async (trx) => readState(trx, (await query(trx, locked))[0]));
      if (pictures.some(({ isSame }) => isSame)) return undefined;
      checkStorage('addition');
      return { mediaType, encoded: await encoder.encode(workspace.id, { bytes, format: name }) };
    },
    reads: async (trx) => {
      const state = await readState(trx, (await query(trx, locked))[0]);
      const [[counted], [next]] = await pipeline(trx, [
        countPictures(workspace.id, state.incident.id),
        NEXT_PICTURE_ID,
      ]);
      return { ...state, count: (counted as { count: number }).count, id: (next as { id: number }).id };
    },
    decides: ({ incident, event, pictures, count, id }, { prepared, now }): Decision<ImportedPicture> => {
      const same = pictures.find(({ isSame }) => isSame);
      if (same !== undefined || prepared === undefined)
        return { stores: [], answer: () => ({ outcome: 'unchanged', id: same?.id ?? id }) };
      checkRoomForPicture(count);
      if (pictures.length >= PICTURE_LIMITS.ofEvent) throw invalidState('The event has too many pictures already');
      const { encoded, mediaType } = prepared;
      const { content, width, height } = encoded;
      const picture: Picture = {
        ...{ id, incidentId: incident.id, eventId: event.id, filename, contentType: mediaType },
        ...{ sizeBytes: content.length, width, height, createdAt: now, createdBy: creatorOf(command).createdBy },
      };
      const after = { ...incident, revision: incident.revision + 1 };
      const names = pictures.map((each) => each.filename);
      const change = { field: `${placeOfEvent(event)}.attachments`, from: names, to: [...names, filename] };
      const entry = importEntry(after, { changes: [], author, now });
      return {
        stores: [
          keepEvents(workspace.id, [event.id]),
          raiseRevision(workspace.id, event.id),
          insertPicture(workspace.id, picture, { ...encoded, digest }),
          attachImported(workspace.id, attachmentOf(event.id, picture)),
          updateOfIncident(workspace.id, incident.id, { revision: after.revision }),
          insertChangelogEntries(workspace.id, [
            entry,
            { ...entry, changes: shortenChanges([change]).changes, isOfParts: true },
          ]),
          insertEvents([importEvent({ before: incident, after }, author, now)]),
        ],
        answer: () => ({ outcome: 'created', id }),
      };
    },
  });
}
