import { invalidRequest, invalidState } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';

/** A picture of an incident (contract: Pictures), without its bytes. */
export interface Picture {
  id: number;
  incidentId: number;
  /** The event that has it, also if that is deleted; null: none. */
  eventId: number | null;
  filename: string;
  contentType: PictureType;
  sizeBytes: number;
  /** Pixels. */
  width: number;
  height: number;
  createdAt: Instant;
  createdBy: string;
}

const MEBIBYTE = 1_048_576;

export const PICTURE_LIMITS = {
  bytes: 5 * MEBIBYTE,
  /** Of all frames together. */
  pixels: 50_000_000,
  /** Of one incident, with those that no event has. */
  pictures: 50,
  /** Of one event. */
  ofEvent: 20,
  filename: 255,
  /** Hours that a picture is kept that no event has. */
  unusedHours: 24,
  thumbnail: { width: 480, height: 360 },
} as const;

export type PictureType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';

/** How files of the media types begin, as Latin-1, with the name of the format in `sharp`. */
const FORMATS = [
  { mediaType: 'image/png', name: 'png', start: /^\x89PNG\r\n\x1a\n/ },
  { mediaType: 'image/jpeg', name: 'jpeg', start: /^\xff\xd8\xff/ },
  { mediaType: 'image/webp', name: 'webp', start: /^RIFF[^]{4}WEBP/ },
  { mediaType: 'image/gif', name: 'gif', start: /^GIF8[79]a/ },
] as const;

export type Format = (typeof FORMATS)[number]['name'];

export const PICTURE_TYPES: readonly PictureType[] = FORMATS.map(({ mediaType }) => mediaType);
export const THUMBNAIL_TYPE = 'image/webp';

const START_BYTES = 12;

/** What a file is by its content, whatever its name and its media type say. @throws DomainError `invalid_request` */
export function formatOf(bytes: Buffer): (typeof FORMATS)[number] {
  const start = bytes.toString('latin1', 0, START_BYTES);
  const format = FORMATS.find((each) => each.start.test(start));
  if (format === undefined) throw invalidRequest('body', 'Is not a PNG, JPEG, WebP or GIF picture');
  return format;
}

/** What a picture is called whose client gives no name. */
export const nameOf = (mediaType: PictureType) => `picture.${mediaType.slice('image/'.length)}`;

/** Where the API has a picture: a path, because workspaces have addresses of their own. */
export const pictureUrl = (id: number) => `/api/v1/pictures/${id}`;
export const thumbnailUrl = (id: number) => `${pictureUrl(id)}?size=thumbnail`;

/** @throws DomainError `invalid_resource_state` if an incident may have no further picture */
export function checkRoomForPicture(count: number): void {
  if (count >= PICTURE_LIMITS.pictures)
    throw invalidState(`The incident has ${PICTURE_LIMITS.pictures} pictures already, with those that no event has`);
}

/**
 * Checks that an event may have the pictures with some IDs, of which those of its incident are given.
 * @param eventId undefined: it is new
 * @throws DomainError `invalid_request`
 */
export function checkPictures(
  ids: readonly number[],
  pictures: readonly Pick<Picture, 'id' | 'eventId'>[],
  eventId?: number,
): void {
  const usable = new Set(pictures.filter((each) => (each.eventId ?? eventId) === eventId).map(({ id }) => id));
  if (!ids.every((id) => usable.has(id)))
    throw invalidRequest('attachments', 'Must be IDs of pictures of the incident that no other event has');
}
