import { describeStartFailure } from '@tocsin/runtime';
import { startTarget, type Target } from './target.ts';
import { findServers, releaseServers } from '../servers/find-servers.ts';

/** Starts a system, runs a measurement of a command line on it, and stops it; a failure is the exit code of the process. */
export async function runOnTarget(measure: (target: Target) => Promise<void>): Promise<void> {
  try {
    await findServers();
    try {
      const target = await startTarget('services');
      try {
        await measure(target);
      } finally {
        await target.stop();
      }
    } finally {
      await releaseServers();
    }
  } catch (error) {
    console.error(describeStartFailure(error));
    process.exitCode = 1;
  }
}
