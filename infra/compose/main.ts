/** `node infra/compose/main.ts <folder>`: writes the secrets that docker-compose.yml mounts. */
import { runScript } from '../installation/run-script.ts';
import { writeSecrets } from './write-secrets.ts';

await runScript(async () => {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: node infra/compose/main.ts <folder>');
  await writeSecrets(folder, process.env);
});
