import type { Environment } from '@tocsin/runtime';
import { runAdmin } from '../admin/run-admin.ts';

/** Carries out an administrator's command, and answers what it prints with `--json`. @throws the line that says why not */
export type Administer = (...words: string[]) => ReturnType<typeof JSON.parse>;

/** An administrator of the instance that an environment leads to. */
export const administrator =
  (env: Environment): Administer =>
  async (...words) => {
    const { printed = '', fault } = await runAdmin([...words, '--json'], env);
    if (fault !== undefined) throw new Error(fault);
    return JSON.parse(printed);
  };
