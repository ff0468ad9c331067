import { runScript } from '../../run-script.ts';
import { startTarget, type Target } from './target.ts';
import { withServers } from '../servers/find-servers.ts';

/** Starts a system, runs a measurement of a command line on it, and stops it; a failure is the exit code of the process. */
export async function runOnTarget(measure: (target: Target) => Promise<void>): Promise<void> {
  const run = async () => {
    const target = await startTarget('services');
    try {
      await measure(target);
    } finally {
      await target.stop();
    }
  };
  await runScript(async () => withServers(run));
}
