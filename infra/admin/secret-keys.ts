/**
 * `npm run -s secret-keys -- generate|derive`: generates the root keys of an installation, and derives those of one
 * process.
 */
import { ConfigError, generateSecretKeys } from '@tocsin/runtime';
import { runScript } from '../run-script.ts';
import { environment } from '../environment.ts';
import { deriveServiceKeys, KEY_HOLDERS } from '../service-keys.ts';

const USAGE = `usage: npm run -s secret-keys -- <command>

  generate          Generate a root key, in the form of TOCSIN_SECRET_KEYS
  derive <process>  Derive the keys of a process from the root keys in TOCSIN_SECRET_KEYS, in the same form

processes: ${KEY_HOLDERS.join(', ')}`;

function run([command, name, ...others]: string[]): string {
  const holder = KEY_HOLDERS.find((each) => each === name);
  if (command === 'generate' && name === undefined) return generateSecretKeys();
  if (command !== 'derive' || holder === undefined || others.length > 0) throw new Error(USAGE);
  const keys = environment()['TOCSIN_SECRET_KEYS'] ?? '';
  if (keys === '') throw new ConfigError('TOCSIN_SECRET_KEYS: is not set');
  return deriveServiceKeys(keys, holder);
}

await runScript(async () => {
  console.log(run(process.argv.slice(2)));
});
