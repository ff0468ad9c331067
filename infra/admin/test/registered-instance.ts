import { openDataDir } from '../../installation/data-dir.ts';

/** Runs `work` while an instance with this environment is registered in a data folder. */
export async function withInstance(folder: string, env: Record<string, string>, work: () => Promise<void>) {
  const dataDir = await openDataDir(folder);
  await dataDir.register({ env, pid: process.pid, baseUrl: 'http://localhost:8080' });
  try {
    await work();
  } finally {
    await dataDir.close();
  }
}
