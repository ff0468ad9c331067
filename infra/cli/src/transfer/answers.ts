import { createHash } from 'node:crypto';
import path from 'node:path';
import { readPrivate, writePrivately } from '../contexts.ts';
import { UsageError } from '../operation-parameters.ts';
import type { Connection, Origin, Range, Read } from './source.ts';

/** What a folder holds, and is asked for again by a rerun. */
export interface Fetched extends Range, Origin {
  source: string;
  /** What answered. */
  address: string;
  /** Whether all answers are there. */
  isComplete: boolean;
}

const FILE = 'fetch.json';

/** @throws UsageError if it is of another source */
export function readFetched(folder: string, source: string): Fetched | undefined {
  const fetched = readPrivate(folder, FILE) as Fetched | undefined;
  if (fetched !== undefined && fetched.source !== source)
    throw new UsageError(`${folder} has answers of ${fetched.source}`);
  return fetched;
}

export const writeFetched = (folder: string, fetched: Fetched) => writePrivately(folder, FILE, fetched);

export interface Counts {
  asked: number;
  kept: number;
}

/** Asks only for answers that the folder does not have. A file is there as a whole or not at all. */
export const fetchingReader =
  <Question>(folder: string, connection: Connection<Question>, counts: Counts): Read<Question> =>
  async (file, question) => {
    const [at, name] = placeOf(folder, file);
    const kept = readPrivate(at, name);
    if (kept !== undefined) {
      counts.kept += 1;
      return kept;
    }
    const answer = (await connection.ask(question)) ?? null;
    writePrivately(at, name, answer);
    counts.asked += 1;
    return answer;
  };

/** Reads only the folder. @throws UsageError if an answer is missing */
export const folderReader =
  (folder: string): Read<unknown> =>
  async (file) => {
    const [at, name] = placeOf(folder, file);
    const kept = readPrivate(at, name);
    if (kept === undefined) throw new UsageError(`${path.join(at, name)} is missing: run fetch again`);
    return kept;
  };

/** The parts come from the source, so they may be anything. */
export function placeOf(folder: string, file: string): [folder: string, name: string] {
  const parts = file
    .split('/')
    .map((part) => (/^[\w-]{1,100}$/.test(part) ? part : createHash('sha256').update(part).digest('hex').slice(0, 32)));
  return [path.join(folder, ...parts.slice(0, -1)), `${parts.at(-1) ?? ''}.json`];
}
