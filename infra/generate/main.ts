/**
 * `npm run generate` writes every generated file that differs from what the sources make of it now;
 * `npm run check:generated` writes nothing, and fails naming the stale ones.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ARTEFACTS } from './artefacts.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const check = process.argv.includes('--check');

let fresh = 0;
for (const { file, make } of ARTEFACTS) {
  const target = path.join(ROOT, file);
  try {
    const text = await make();
    if (text === (await readFile(target, 'utf8').catch(() => undefined))) {
      fresh += 1;
    } else if (check) {
      console.error(`${file} is stale: run npm run generate`);
      process.exitCode = 1;
    } else {
      await writeFile(target, text);
      console.log(`${file} written`);
      fresh += 1;
    }
  } catch (error) {
    console.error(`${file} cannot be made: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
console.log(`${fresh} of ${ARTEFACTS.length} generated files are fresh`);
