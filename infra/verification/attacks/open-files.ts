import { readFile } from 'node:fs/promises';

/** The highest number of open files of this process, and with it of connections. */
export async function openFileLimit(): Promise<number> {
  const text = await readFile('/proc/self/limits', 'utf8');
  const [, limit = ''] = /^Max open files\s+(\S+)/m.exec(text) ?? [];
  return limit === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(limit);
}
