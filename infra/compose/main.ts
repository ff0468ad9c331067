/** `node infra/compose/main.ts <folder>`: writes the secrets that docker-compose.yml mounts. */
import { describeStartFailure } from '@tocsin/runtime';
import { writeSecrets } from './write-secrets.ts';

try {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: node infra/compose/main.ts <folder>');
  await writeSecrets(folder, process.env);
} catch (error) {
  console.error(describeStartFailure(error));
  process.exitCode = 1;
}
