import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { createDeflate, deflateSync } from 'node:zlib';
import { chunk, GREY, png, RGB, RGBA, RGBA_16 } from '../systems/png.ts';

const MEBIBYTE = 1_048_576;
/** Pixels of all frames, and bytes, that a picture may have (contract: Pictures). */
const PIXELS = 50_000_000;
const BYTES = 5 * MEBIBYTE;
/** A square of nearly all pixels. */
const SIDE = Math.floor(Math.sqrt(PIXELS));

export interface HostilePicture {
  bytes: Buffer;
  /** Whether it must not be stored; of others the time and memory that they take decide. */
  isRefused: boolean;
}

/** Returns pictures that take as much time and memory as possible, are damaged, or are something else as well. */
export async function hostilePictures(unpacked = 512 * MEBIBYTE): Promise<HostilePicture[]> {
  const side = { width: SIDE, height: SIDE };
  const noise = Math.floor(Math.sqrt(BYTES / 3)) - 5;
  const rows = Buffer.concat(
    Array.from({ length: noise }, () => Buffer.concat([Buffer.of(0), randomBytes(3 * noise)])),
  );
  const largest = png({ width: noise, height: noise, kind: RGB }, deflateSync(rows, { level: 0 }));
  const zeros = await packedZeros(unpacked);
  const empty = deflateSync(Buffer.alloc(2));
  const point = { width: 1, height: 1, kind: GREY };
  const animation = manyFrames();
  return [
    // Passes over the whole picture need all of it in memory.
    { bytes: png({ ...side, kind: RGBA_16, isInterlaced: true }, await packedZeros(9 * PIXELS)), isRefused: false },
    { bytes: png({ ...side, kind: RGBA }, await packedZeros(4 * PIXELS + SIDE)), isRefused: false },
    { bytes: largest, isRefused: false },
    { bytes: animation, isRefused: false },
    { bytes: Buffer.concat([animation, Buffer.from('<script>alert(1)</script>')]), isRefused: false },
    { bytes: manyScans(), isRefused: false },
    { bytes: webp({ width: 16_383, height: Math.floor(PIXELS / 16_383) }), isRefused: false },
    { bytes: png(point, empty, chunk('iCCP', Buffer.concat([Buffer.from('x\0\0'), zeros]))), isRefused: false },
    {
      bytes: png(point, empty, ...Array<Buffer>(2).fill(chunk('zTXt', Buffer.concat([Buffer.from('x\0\0'), zeros])))),
      isRefused: false,
    },
    { bytes: png({ ...side, width: SIDE + 5, kind: GREY }, empty), isRefused: true },
    { bytes: png({ width: 2 ** 31 - 1, height: 2 ** 31 - 1, kind: GREY }, empty), isRefused: true },
    { bytes: png({ ...side, kind: RGBA }, empty), isRefused: true },
    { bytes: largest.subarray(0, largest.length / 2), isRefused: true },
    { bytes: Buffer.from('GIF89a/*\0\0*/=1;alert(1)//'), isRefused: true },
  ];
}

/** Zeros that zlib has packed. */
async function packedZeros(bytes: number): Promise<Buffer> {
  const deflate = createDeflate({ level: 1 });
  const packed = buffer(deflate);
  const piece = Buffer.alloc(MEBIBYTE);
  for (let left = bytes; left > 0; left -= piece.length)
    if (!deflate.write(piece.subarray(0, left))) await new Promise((resolve) => deflate.once('drain', resolve));
  deflate.end();
  return packed;
}

/** A GIF whose 10,000 frames each change one pixel. */
function manyFrames(): Buffer {
  const side = Math.floor(Math.sqrt(PIXELS / 10_000));
  const frame = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]);
  const screen = [side & 0xff, side >> 8, side & 0xff, side >> 8, 0x80, 0, 0, 0, 0, 0, 255, 255, 255];
  return Buffer.concat([
    Buffer.from('GIF89a'),
    Buffer.from(screen),
    ...Array<Buffer>(10_000).fill(frame),
    Buffer.of(0x3b),
  ]);
}

/** A JPEG of black that is refined again and again: each scan of 100 bytes goes over all its blocks. */
function manyScans(): Buffer {
  const blocks = Math.ceil(SIDE / 8) ** 2;
  const size = [SIDE >> 8, SIDE & 0xff];
  // One code of one bit, which is 0.
  const code = (table: number, symbol: number) => [0xff, 0xc4, 0, 20, table, 1, ...Array<number>(15).fill(0), symbol];
  const scan = (first: number, last: number, bits: number) =>
    Buffer.concat([Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, first, last, 0]), Buffer.alloc(Math.ceil(bits / 8))]);
  const start = Buffer.from([
    ...[0xff, 0xd8, 0xff, 0xdb, 0, 67, 0, ...Array<number>(64).fill(1)],
    ...[0xff, 0xc2, 0, 11, 8, ...size, ...size, 1, 1, 0x11, 0],
    ...code(0x00, 0x00),
    // Ends 16,384 blocks.
    ...code(0x10, 0xe0),
  ]);
  const direct = scan(0, 0, blocks);
  const others = scan(1, 63, 15 * Math.ceil(blocks / 16_384));
  const count = Math.floor((BYTES - start.length - direct.length) / others.length);
  return Buffer.concat([start, direct, ...Array<Buffer>(count - 1).fill(others), Buffer.of(0xff, 0xd9)]);
}

/** A WebP of one colour, whose pixels take no bit: it has codes of one symbol. */
function webp({ width, height }: { width: number; height: number }): Buffer {
  // The lowest bit comes first.
  const number = (value: number) => [...value.toString(2).padStart(14, '0')].toReversed().join('');
  const bits = `${number(width - 1)}${number(height - 1)}0000000${'1000'.repeat(5)}`.padEnd(8 * 9, '0');
  const image = Buffer.from([
    0x2f,
    ...(bits.match(/.{8}/g) ?? []).map((byte) => parseInt([...byte].toReversed().join(''), 2)),
  ]);
  const size = (bytes: number) => Buffer.from(Uint32Array.of(bytes).buffer);
  const body = Buffer.concat([Buffer.from('WEBPVP8L'), size(image.length), image]);
  return Buffer.concat([Buffer.from('RIFF'), size(body.length), body]);
}
