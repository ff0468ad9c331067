/** `npm run -s admin -- <command> [flags]`: administers workspaces, users and keys (contract: Administration). */
import { environment } from '../environment.ts';
import { runAdmin } from './run-admin.ts';

const { printed, fault } = await runAdmin(process.argv.slice(2), environment());
if (printed !== undefined) console.log(printed);
if (fault !== undefined) {
  console.error(fault);
  process.exitCode = 1;
}
