import type { Client } from '@tocsin/testing';
import type { Operation } from './history.ts';

/** The size of a picture says which it is: it stays when a picture is encoded again. */
export interface Size {
  width: number;
  height: number;
}

export const isUpload = ({ method, path }: Pick<Operation, 'method' | 'path'>): boolean =>
  method === 'POST' && path.includes('/pictures?');

/** What the response to an upload says of its picture. */
export const uploadedBy = ({ text }: Pick<Operation, 'text'>) =>
  (JSON.parse(text) as { picture: Size & { id: number; filename: string } }).picture;

/** Pictures that are read at once. */
const AT_ONCE = 8;

/**
 * Reads the pictures of acknowledged uploads, by their IDs; undefined: it is not there.
 * @throws Error if a response is neither 200 nor 404
 */
export async function readPictures(
  client: Client,
  operations: readonly Operation[],
): Promise<Map<number, Size | undefined>> {
  const ids = new Set(
    operations.filter((each) => isUpload(each) && each.outcome === 'done').map((each) => uploadedBy(each).id),
  );
  const sizes = new Map<number, Size | undefined>();
  const left = [...ids];
  const readOne = async (id: number) => {
    const { status, text, bytes } = await client.get(`/api/v1/pictures/${id}`);
    if (status !== 200 && status !== 404) throw new Error(`the picture ${id}: ${status} ${text}`);
    sizes.set(id, status === 404 ? undefined : { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) });
  };
  while (left.length > 0) await Promise.all(left.splice(0, AT_ONCE).map(readOne));
  return sizes;
}
