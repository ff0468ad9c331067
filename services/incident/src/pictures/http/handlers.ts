import { idempotently } from '@tocsin/http';
import { type Picture, THUMBNAIL_TYPE } from '../domain/picture.ts';
import { type PictureDependencies, uploadPicture } from '../pictures.ts';
import { getFile } from '../store/picture-store.ts';
import type { PictureApi } from './contracts.ts';
import { pictureView } from './views.ts';

/** A browser shows a picture, and nothing that looks like another thing. Another user of the browser has another cookie. */
const FILE_HEADERS = {
  'Cache-Control': 'private, max-age=300',
  Vary: 'Authorization, Cookie',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
};

export function pictureHandlers(dependencies: PictureDependencies): PictureApi {
  const { database } = dependencies;
  return {
    createPicture: async (request) => {
      const { principal, requestId, params, query, bytes } = request;
      const responseOf = (picture: Picture) => ({
        ...{ status: 201, text: JSON.stringify({ picture: pictureView(picture) }), revision: undefined },
      });
      const command = { principal, requestId, incidentId: params.id, bytes, filename: query.filename };
      return idempotently(database, request, async (key) =>
        responseOf(await uploadPicture(dependencies, { ...command, outcome: key && { key, responseOf } })),
      );
    },

    getPicture: async ({ principal, params: { id }, query: { size } }) => {
      const isThumbnail = size === 'thumbnail';
      const { bytes, contentType } = await getFile(database, { workspaceId: principal.workspace.id, id, isThumbnail });
      return {
        file: { bytes, mediaType: isThumbnail ? THUMBNAIL_TYPE : contentType },
        // The bytes of a picture never change.
        headers: { ...FILE_HEADERS, ETag: `"${id}${isThumbnail ? '-thumbnail' : ''}"` },
      };
    },
  };
}
