import type { Environment } from '@tocsin/runtime';
import { runAdmin } from '../../admin/run-admin.ts';

/**
 * Runs an admin command with `--json` and returns its output, parsed. @throws Error with the command's error message
 */
export type AdminCommand = (...args: string[]) => ReturnType<typeof JSON.parse>;

/** Returns a function that runs admin commands on the instance of an environment. */
export const adminCommand =
  (env: Environment): AdminCommand =>
  async (...args) => {
    const { output = '', error } = await runAdmin([...args, '--json'], env);
    if (error !== undefined) throw new Error(error);
    return JSON.parse(output);
  };
