import { spawnSync } from 'node:child_process';

/** Whether a program is in the path. */
export const isInstalled = (program: string) => spawnSync(program, ['--version']).error === undefined;
