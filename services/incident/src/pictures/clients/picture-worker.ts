/** A process that encodes one picture for each message that it gets; see `picture-encoder.ts`. */
import sharp, { type Metadata, type Sharp } from 'sharp';
import type { EncodeAnswer, EncodeRequest } from './picture-encoder.ts';

/** Bytes of the whole process; a picture of the most pixels takes half of it. */
const MAX_MEMORY = 512 * 1_048_576;
/** Milliseconds. */
const LOOK = 50;
/** The second, if the first makes a picture of too many bytes. */
const QUALITIES = [85, 60];
/** Of the encoder of WebP: more takes many times as long for a few bytes. */
const EFFORT = 1;

sharp.cache(false);
sharp.concurrency(1);
// Whatever a file looks like to libvips: no other decoder opens it.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp', 'VipsForeignLoadNsgif'],
});

setInterval(() => {
  if (process.memoryUsage.rss() > MAX_MEMORY) process.exit(1);
}, LOOK);
// The service has gone.
process.on('disconnect', () => process.exit());
process.on('message', (request: EncodeRequest) => {
  encode(request).then(
    (answer) => process.send?.(answer),
    () => process.send?.({ refusal: 'Is damaged, or not a picture of its format' } satisfies EncodeAnswer),
  );
});
process.send?.('ready');

/** The encoders write no metadata: no place, no device, no comment. What is turned by metadata is turned before. */
async function encode({ bytes, format, limits }: EncodeRequest): Promise<EncodeAnswer> {
  const options = { animated: true, failOn: 'error', limitInputPixels: false } as const;
  const metadata = await sharp(bytes, options).metadata();
  const { width, height, pages = 1, pageHeight = height } = metadata;
  if (metadata.format !== format) return { refusal: 'Is not a picture of its format' };
  if (width * height > limits.pixels) return { refusal: `Has more than ${limits.pixels / 1e6} million pixels` };
  const open = (animated: boolean): Sharp => {
    const opened = sharp(bytes, { ...options, animated, limitInputPixels: limits.pixels });
    return pages > 1 ? opened : opened.autoOrient();
  };
  const isTurned = pages === 1 && (metadata.orientation ?? 1) > 4;
  for (const quality of QUALITIES) {
    const content = await encoderOf(open(true), metadata, quality).toBuffer();
    if (content.length > limits.bytes) continue;
    const thumbnail = await open(false)
      .resize({ ...limits.thumbnail, fit: 'inside', withoutEnlargement: true })
      .webp({ effort: EFFORT })
      .toBuffer();
    return {
      ...{ content, thumbnail },
      width: isTurned ? pageHeight : width,
      height: isTurned ? width : pageHeight,
    };
  }
  return { refusal: `Has more than ${limits.bytes} bytes when it is encoded again` };
}

/** Those without loss make the same of it at any quality. */
function encoderOf(picture: Sharp, { format, isPalette }: Metadata, quality: number): Sharp {
  if (format === 'jpeg') return picture.jpeg({ quality });
  if (format === 'webp') return picture.webp({ quality, effort: EFFORT });
  return format === 'gif' ? picture.gif() : picture.png({ palette: isPalette });
}
