import type { Result } from './run-combinations.ts';

/** The line of a combination, with a line for each failure below it. */
export function resultLines({ name, passed, failures, seconds, slowest }: Result): string {
  const verdict = failures.length === 0 ? 'passed' : 'FAILED';
  const count = `${passed} of ${passed + failures.length} checks`;
  return [
    `${verdict}  ${name.padEnd(32)}${count.padEnd(18)}${seconds.toFixed(1).padStart(6)} s  (${slowest.name} ${slowest.seconds.toFixed(1)} s)`,
    ...failures.map((failure) => `        ${failure.replaceAll('\n', '\n          ')}`),
  ].join('\n');
}

/** The last line of a run. */
export function summary(results: readonly Result[]): string {
  const passed = results.filter(({ failures }) => failures.length === 0).length;
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  return `${passed} of ${results.length} combinations passed in ${seconds.toFixed(0)} s`;
}
