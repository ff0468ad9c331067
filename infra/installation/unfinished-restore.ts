import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { ignoreMissing } from './missing-files.ts';
import { writeAtomically } from './write-atomically.ts';

/** The file in a data folder that says that a restore is running or was interrupted. */
const MARKER = 'restore-unfinished.json';

const schema = z.object({
  /** The backup. */
  file: z.string(),
  /** The folder for the files from before, in the data folder; null when there were none. */
  kept: z.string().nullable(),
  /** `keeping`: files from before are moved; `loading`: what is in the data folder is the restore's. */
  phase: z.enum(['keeping', 'loading']),
});

export type UnfinishedRestore = z.infer<typeof schema>;

const markerOf = (folder: string) => path.join(folder, MARKER);

/** @throws Error when the marker is damaged */
export async function findUnfinishedRestore(folder: string): Promise<UnfinishedRestore | undefined> {
  const text = await readFile(markerOf(folder), 'utf8').catch(ignoreMissing);
  return text === undefined ? undefined : schema.parse(JSON.parse(text));
}

export const markUnfinishedRestore = async (folder: string, restore: UnfinishedRestore): Promise<void> =>
  writeAtomically(markerOf(folder), `${JSON.stringify(restore)}\n`);

export const removeRestoreMarker = async (folder: string): Promise<void> => rm(markerOf(folder), { force: true });

/** The message for a command that cannot use the folder until the restore is finished. */
export const describeUnfinishedRestore = (folder: string, { file, kept }: UnfinishedRestore) =>
  `a restore into ${folder} did not finish: run make restore FILE=${file} again, or remove what it made with make reset` +
  (kept === null ? '' : `; the data from before are in ${path.join(folder, kept)}`);
