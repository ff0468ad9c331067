import { open, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

export const OWNER_ONLY = 0o600;

/** Writes a file that only its owner can read. A reader sees the old content or the new one, never a part. */
export async function writeAtomically(file: string, text: string): Promise<void> {
  const draft = `${file}.new`;
  await writeFile(draft, text, { mode: OWNER_ONLY, flush: true });
  await rename(draft, file);
}

/** Makes the names of the files in a folder survive a failure of power. */
export async function syncFolder(file: string): Promise<void> {
  const folder = await open(path.dirname(file), 'r');
  try {
    // Some systems cannot do this for a folder.
    await folder.sync().catch(() => undefined);
  } finally {
    await folder.close();
  }
}
