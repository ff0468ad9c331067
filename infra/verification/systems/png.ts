import { crc32, deflateSync } from 'node:zlib';

/** Bits of a channel, and the colour type of PNG. */
export const [GREY, RGB, RGBA, RGBA_16] = [
  [1, 0],
  [8, 2],
  [8, 6],
  [16, 6],
] as const;

interface Png {
  width: number;
  height: number;
  kind: readonly [bits: number, colourType: number];
  isInterlaced?: boolean;
}

/** @param pixels packed by zlib @param more chunks before the pixels */
export function png({ width, height, kind, isInterlaced = false }: Png, pixels: Buffer, ...more: Buffer[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([...kind, 0, 0, Number(isInterlaced)], 8);
  const parts = [chunk('IHDR', header), ...more, chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}

export function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
}

/** A picture of this size, of one colour. */
export const plainPng = (width: number, height: number): Buffer =>
  png({ width, height, kind: RGB }, deflateSync(Buffer.alloc(height * (1 + 3 * width))));
