import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Part } from './send.ts';

const FILE = 'applied.ndjson';

/**
 * The progress of an apply in its folder: a line for each part, with its outcome, so neither is kept without the other.
 * It is that of one run: of an installation, a workspace, a mapping and the answers.
 */
export function openProgress(folder: string, run: string) {
  const file = path.join(folder, FILE);
  const [first, ...lines] = readLines(file);
  const isSame = first === run;
  const parts = isSame ? lines.map((line) => line as Part) : [];
  return {
    parts,
    /** Forgets the parts before. */
    begin: (): void => {
      rmSync(file, { force: true });
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      appendFileSync(file, `${JSON.stringify(run)}\n`, { mode: 0o600 });
    },
    add: (part: Part): void => appendFileSync(file, `${JSON.stringify(part)}\n`),
    end: (): void => rmSync(file, { force: true }),
  };
}

/** A line that is cut, because the process was killed, and what follows it are left out. */
function readLines(file: string): unknown[] {
  const values: unknown[] = [];
  try {
    for (const line of readFileSync(file, 'utf8').split('\n')) if (line !== '') values.push(JSON.parse(line));
  } catch (error) {
    if (!(error instanceof SyntaxError) && (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return values;
}
