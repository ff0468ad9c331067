import sharp, { type Create } from 'sharp';
import type { Client } from '@tocsin/testing';

/** A picture of one colour, to be encoded. */
export const plain = (options: Partial<Create> = {}) =>
  sharp({
    create: { width: 600, height: 400, channels: 3, background: '#c2185b', ...options },
    limitInputPixels: false,
  });

/** The bytes of a small PNG. */
export const aPng = async (): Promise<Buffer> => plain().png().toBuffer();

export const upload = async (client: Client, incidentId: number, bytes: Uint8Array, more: UploadOptions = {}) => {
  const { query = '', headers = {} } = more;
  return client.post(`/api/v1/incidents/${incidentId}/pictures${query}`, bytes, {
    ...{ 'Content-Type': 'application/octet-stream', ...headers },
  });
};

interface UploadOptions {
  query?: string;
  headers?: Record<string, string>;
}

/** A GIF with many frames, each of one pixel. */
export function manyFrames({ width, height, count }: { width: number; height: number; count: number }): Buffer {
  const [w, h] = [width, height].map((pixels) => [pixels & 0xff, pixels >> 8]) as [number[], number[]];
  const palette = [0, 0, 0, 255, 255, 255];
  const frame = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]);
  return Buffer.concat([
    Buffer.from('GIF89a'),
    Buffer.from([...w, ...h, 0x80, 0, 0, ...palette]),
    ...Array<Buffer>(count).fill(frame),
    Buffer.from([0x3b]),
  ]);
}
