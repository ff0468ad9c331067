import { existsSync } from 'node:fs';
import path from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The path of an installed Chromium, if there is one. */
export function findChromium(): string | undefined {
  const folders = ['/usr/bin', ...(process.env['PATH'] ?? '').split(path.delimiter)];
  return NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))).find((file) => existsSync(file));
}
