import type { AggregatedResult, Reporter } from '@jest/reporters';
import { isNeeding } from '@tocsin/testing';

/** Ends a run with what a machine, or somebody in a hurry, wants to know of it. */
export default class ClosingLines implements Pick<Reporter, 'onRunComplete'> {
  onRunComplete(_contexts: unknown, results: AggregatedResult): void {
    const skipped = results.testResults.flatMap(({ testResults }) =>
      testResults.filter(({ status }) => status === 'pending' || status === 'todo'),
    );
    const wanting = skipped.filter(({ ancestorTitles }) => ancestorTitles.some(isNeeding));
    // A file that cannot even be loaded has no tests to fail.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    // Jest's own summary comes after all other reporters.
    process.once('exit', () => {
      if (wanting.length > 0) console.log(`skipped for want of a broker or Redis: ${wanting.length}`);
      console.log(`${results.numPassedTests} passed, ${failed} failed, ${skipped.length} skipped`);
    });
  }
}
