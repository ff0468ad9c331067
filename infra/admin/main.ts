/** `npm run -s admin -- <command> [flags]`: manages workspaces, users and keys (contract: Administration). */
import { ConfigError, describeStartFailure } from '@tocsin/runtime';
import { environment } from '../installation/environment.ts';
import { runAdmin } from './run-admin.ts';

try {
  const { output, error, exitCode } = await runAdmin(process.argv.slice(2), environment(), console.error);
  if (output !== undefined) console.log(output);
  if (error !== undefined) console.error(error);
  process.exitCode = exitCode;
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(describeStartFailure(error));
  process.exitCode = 1;
}
