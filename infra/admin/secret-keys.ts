/**
 * `npm run -s secret-keys -- generate|derive`: generates the root keys of an installation, and derives those of one
 * process.
 */
import { environment } from '../installation/environment.ts';
import { runScript } from '../installation/run-script.ts';
import { rootKeys } from './root-keys.ts';

await runScript(async () => {
  console.log(rootKeys(process.argv.slice(2), environment()));
});
