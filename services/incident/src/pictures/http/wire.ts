import { instant, shownText, boundedText } from '@tocsin/schemas';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { id } from '../../incidents/domain/property-kinds.ts';
import { PICTURE_LIMITS } from '../domain/picture.ts';

const pixels = z.int().min(1);

const picture = z
  .strictObject({
    id: id.meta({ description: 'Identifies the picture, also as an attachment of an event' }),
    incident_id: id.meta({ description: 'ID of the incident' }),
    filename: z.string().meta({ description: 'The name of the file, for people' }),
    content_type: z.string().meta({ description: 'The media type of the picture, by its content' }),
    size_bytes: z.int().min(1).meta({ description: 'Its size as it is stored' }),
    width: pixels.meta({ description: 'In pixels, as it is shown' }),
    height: pixels.meta({ description: 'In pixels; of an animation, of one frame' }),
    url: z.string().meta({ description: 'Its path in the API' }),
    thumbnail_url: z.string().meta({ description: 'The path of its thumbnail' }),
    created_at: instant.meta({ description: 'When it was uploaded' }),
    created_by: z.string().meta({ description: 'ID, as text, of the user who uploaded it' }),
  })
  .meta({ id: 'Picture' });

export type PictureWire = z.infer<typeof picture>;

export const pictureReply = z.strictObject({ picture: schemaReference(picture, 'The picture as it is stored') });

export const pictureName = shownText(boundedText(PICTURE_LIMITS.filename));

export const uploadQuery = z.strictObject({
  filename: pictureName.optional().meta({
    description: 'The name of the file, for people; default: `picture.` and its kind',
  }),
});

export const fileQuery = z.strictObject({
  size: z
    .enum(['full', 'thumbnail'])
    .optional()
    .meta({
      description: `A thumbnail is WebP, without animation, of at most ${PICTURE_LIMITS.thumbnail.width} × ${PICTURE_LIMITS.thumbnail.height} pixels; default: full`,
      default: 'full',
    }),
});
