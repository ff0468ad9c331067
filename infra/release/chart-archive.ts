import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { ROOT } from '../installation/environment.ts';

const BLOCK = 512;
const FOLDER = 'infra/kubernetes/chart';

/** A file in an archive of the format ustar, which anybody may read, without a time and an owner. */
function entry(name: string, content: Buffer): Buffer {
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  const fields = [octal(0o644, 7), octal(0, 7), octal(0, 7), octal(content.length, 11), octal(0, 11)];
  const header = Buffer.alloc(BLOCK);
  header.write(name);
  // The sum of the header is that with spaces in place of the sum.
  header.write(`${fields.join('')}${' '.repeat(8)}0`, 100);
  header.write('ustar\x0000', 257);
  header.write(
    `${octal(
      header.reduce((sum, byte) => sum + byte),
      6,
    )} `,
    148,
  );
  return Buffer.concat([header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
}

/** The Helm chart, packed for `helm install`: the same bytes on every machine. */
export function chartArchive(): Buffer {
  const files = globSync(`${FOLDER}/**/*.{yaml,json}`, { cwd: ROOT }).toSorted();
  const entries = [...files, 'LICENSE'].map((file) => {
    const name = file.startsWith(FOLDER) ? path.relative(FOLDER, file) : file;
    return entry(`tocsin/${name}`, readFileSync(path.join(ROOT, file)));
  });
  const archive = gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]), { level: 9 });
  // The system that packed it: unknown.
  archive[9] = 255;
  return archive;
}
