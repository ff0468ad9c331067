/**
 * `admin` is the commands of operators: `npm run -s admin -- <command> [flags]` (contract: Administration). `target.ts`
 * finds the databases by the settings, or else by the running instance, never some of each, and names each one before
 * it is opened. A command works on them by the `administration.ts` of the apps: changes of workspaces, users and keys
 * commit with their events and their entries in the audit log, and running gateways are notified at the commit. It does
 * not check roles. `doctor/` looks for what contradicts itself between databases, broker and Redis, reads only, and
 * with `--fix` repairs what can be repaired safely. `dead-letters/` returns messages: one is removed when the broker
 * has confirmed its copy, so a crash repeats one at most and loses none. `secret-keys.ts` makes root keys.
 */
import { environment } from '../installation/environment.ts';
import { runAdmin } from './run-admin.ts';

try {
  const { output, error, exitCode } = await runAdmin(process.argv.slice(2), environment(), console.error);
  if (output !== undefined) console.log(output);
  if (error !== undefined) console.error(error);
  process.exitCode = exitCode;
} catch (error) {
  const { ConfigError, describeStartFailure } = await import('@tocsin/runtime');
  if (!(error instanceof ConfigError)) throw error;
  console.error(describeStartFailure(error));
  process.exitCode = 1;
}
