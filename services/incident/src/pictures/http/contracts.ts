import { type Contracts, endpoint, type Handlers, pathId } from '@tocsin/http';
import { z } from 'zod';
import { INCIDENT, params, read, write } from '../../incidents/http/contracts.ts';
import { PICTURE_LIMITS, PICTURE_TYPES } from '../domain/picture.ts';
import { fileQuery, pictureReply, uploadQuery } from './wire.ts';

const pictureParams = z.strictObject({ id: pathId.meta({ description: 'ID of the picture' }) });

/** What the body may be. */
export const PICTURE_UPLOAD = {
  maxBytes: PICTURE_LIMITS.bytes,
  types: ['image/*', 'application/octet-stream'],
} as const;

/** The deadline has the wait for the turn, and the time of one picture. */
export const PICTURE_COST = { deadline: 25_000, cost: { base: 10 } } as const;

/** contract: Pictures */
export const pictureContracts = {
  createPicture: {
    ...endpoint('POST', `${INCIDENT}/pictures`, 'Upload a picture'),
    tag: 'Timeline',
    ...write,
    params,
    query: uploadQuery,
    idempotent: true,
    upload: PICTURE_UPLOAD,
    ...PICTURE_COST,
    reply: {
      status: 201,
      body: pictureReply,
      assigned: ['picture.id', 'picture.url', 'picture.thumbnail_url'],
      resource: '/api/v1/pictures/{picture.id}',
    },
  },
  getPicture: {
    ...endpoint('GET', '/api/v1/pictures/{id}', 'Download a picture'),
    tag: 'Timeline',
    ...read,
    params: pictureParams,
    query: fileQuery,
    reply: { status: 200, file: PICTURE_TYPES },
  },
} as const satisfies Contracts;

export type PictureApi = Handlers<typeof pictureContracts>;
