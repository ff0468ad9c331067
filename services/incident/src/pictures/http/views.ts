import { type Picture, pictureUrl, thumbnailUrl } from '../domain/picture.ts';
import type { PictureWire } from './wire.ts';

/** Returns a picture as the API shows it. */
export const pictureView = (picture: Picture): PictureWire => ({
  id: picture.id,
  incident_id: picture.incidentId,
  filename: picture.filename,
  content_type: picture.contentType,
  size_bytes: picture.sizeBytes,
  width: picture.width,
  height: picture.height,
  url: pictureUrl(picture.id),
  thumbnail_url: thumbnailUrl(picture.id),
  created_at: picture.createdAt,
  created_by: picture.createdBy,
});
