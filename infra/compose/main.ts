/**
 * `compose` is what an installation by docker-compose.yml needs besides its images. Before all others, one container
 * runs `node infra/compose/main.ts <folder>`, which writes a folder for each container, with the secrets that it needs
 * and no others. It takes those that the environment sets; the others are generated once, and kept in a folder that no
 * other container mounts, so the next run writes the same. Each file is replaced as a whole: a reader sees the old
 * content or the new one. `backup.sh` dumps the database each day, under its final name only when the dump is complete,
 * and restores the newest one as a drill.
 */
import { runScript } from '../installation/run-script.ts';
import { writeSecrets } from './write-secrets.ts';

await runScript(async () => {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: node infra/compose/main.ts <folder>');
  await writeSecrets(folder, process.env);
});
