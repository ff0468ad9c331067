/**
 * `npm run compat`: runs the last release and the present sources together in all combinations that an upgrade can
 * have, and exits with 1 if they do not understand each other. Needs Linux, git with the whole history, PostgreSQL,
 * RabbitMQ and Redis.
 */
import { runScript } from '../../run-script.ts';
import { ROOT } from '../../environment.ts';
import { withServers } from '../servers/find-servers.ts';
import { interruption } from '../interruption.ts';
import { findBaseline } from './baseline.ts';
import { COMBINATIONS } from './combinations.ts';
import { type Fault, FAULTS } from './faults.ts';
import { createOldTree } from './old-tree.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { loadRelease } from './release.ts';
import { resultLines, summary } from './report.ts';
import type { Result } from './run-combinations.ts';
import { runSuite } from './suite.ts';

async function run({ combinations, fault, against }: Options): Promise<void> {
  if (process.platform !== 'linux') throw new Error('this needs Linux: the webhook receivers use 127.0.0.0/8');
  const baseline = await findBaseline(against);
  if (baseline === undefined) {
    console.log(`no release yet: nothing to compare; 0 of ${combinations.length} combinations ran`);
    return;
  }
  const signal = interruption('ending after this combination');
  await withServers(async () => {
    const tree = await createOldTree(baseline);
    try {
      console.log(
        `old: ${baseline.revision}, ${baseline.commit.slice(0, 12)}, packages ${tree.packages}; new: these sources`,
      );
      const releases = { old: await loadRelease('old', tree.root), new: await loadRelease('new', ROOT) };
      const report = (result: Result) => console.log(resultLines(result));
      const results = await runSuite({ releases, combinations, fault, report, signal });
      console.log(summary(results));
      if (fault !== undefined) judgeFault(fault, results);
      else if (results.length < combinations.length || results.some(({ failures }) => failures.length > 0)) {
        process.exitCode = 1;
      }
    } finally {
      await tree.remove();
    }
  });
}

/** With a fault, success is that the checks notice it. */
function judgeFault({ name, what, noticed }: Fault, results: readonly Result[]): void {
  const isNoticed = results.some(({ failures }) => failures.some((failure) => noticed.test(failure)));
  console.log(`${isNoticed ? 'noticed' : 'NOT NOTICED'}: ${name}: ${what}`);
  if (!isNoticed) process.exitCode = 1;
}

await runScript(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options.show === 'help') console.log(USAGE);
  else if (options.show === 'list') {
    for (const { name } of COMBINATIONS) console.log(name);
    for (const { name, what } of FAULTS) console.log(`fault ${name}: ${what}`);
  } else await run(options);
});
