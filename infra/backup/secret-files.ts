import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The content of a secret of a data folder, without the end of the line. */
export async function readSecretFile(folder: string, name: string): Promise<string | undefined> {
  try {
    const text = (await readFile(path.join(folder, name), 'utf8')).trim();
    return text === '' ? undefined : text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
