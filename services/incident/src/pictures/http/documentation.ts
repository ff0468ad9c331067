import type { Documentation } from '@tocsin/http';
import { params as incidentParams } from '../../incidents/http/examples.ts';
import type { pictureContracts } from './contracts.ts';
import { pictureView } from './views.ts';

const pictureExample = pictureView({
  ...{ id: 1, incidentId: 1, eventId: null, filename: 'latency.png', contentType: 'image/png', sizeBytes: 48_212 },
  ...{ width: 1_280, height: 720, createdAt: '2026-11-20T09:36:00.000Z', createdBy: '1' },
});

/** contract: Pictures */
export const pictureOperations: Documentation<typeof pictureContracts> = {
  createPicture: {
    description:
      'Stores a PNG, JPEG, WebP or GIF picture, recognized by its content, which the body has as it is. It is encoded again, so that no metadata, such as the place, is left. Name its ID in the `attachments` of a timeline event: a picture that no event has is deleted after 24 hours.',
    params: incidentParams,
    reply: { picture: pictureExample },
  },
  getPicture: {
    description: 'Returns a picture, or its thumbnail, to those who may read its incident.',
    params: { id: 1 },
  },
};
