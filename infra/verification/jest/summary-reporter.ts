import type { AggregatedResult, Reporter } from '@jest/reporters';
import { isSkippedTitle } from '@tocsin/testing';

/** Prints the counts of a test run as its last lines. */
export default class SummaryReporter implements Pick<Reporter, 'onRunComplete'> {
  onRunComplete(_contexts: unknown, results: AggregatedResult): void {
    const skipped = results.testResults.flatMap(({ testResults }) =>
      testResults.filter(({ status }) => status === 'pending' || status === 'todo'),
    );
    const lackingServers = skipped.filter(({ ancestorTitles }) => ancestorTitles.some(isSkippedTitle));
    // A file that cannot be loaded has no tests that could fail.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    // Jest's own summary comes after all other reporters.
    process.once('exit', () => {
      if (lackingServers.length > 0)
        console.log(`skipped because a server or program is missing: ${lackingServers.length}`);
      console.log(`${results.numPassedTests} passed, ${failed} failed, ${skipped.length} skipped`);
    });
  }
}
