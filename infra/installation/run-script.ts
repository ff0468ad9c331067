import { describeStartFailure } from '@tocsin/runtime';

/** Runs the work of a command line. A failure is described on stderr, and the exit code is then 1. */
export async function runScript(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(describeStartFailure(error));
    process.exitCode = 1;
  }
}
