import type { Command } from '../command.ts';
import { describeError } from '../describe-error.ts';
import { runChecks } from './run-checks.ts';

const PROBLEMS = 1;
/** Also when the doctor could not begin. */
const INCOMPLETE = 2;

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Look for data that contradict each other, and for parts that stand still; exits with 1 for problems',
  flags: { fix: { help: 'repair what can be repaired safely' } },
  table: {
    rows: 'checks',
    columns: ['status', 'check', 'message'],
  },
  failureCode: INCOMPLETE,
  exitCode: ({ result }) => (result === 'problems' ? PROBLEMS : result === 'incomplete' ? INCOMPLETE : 0),
  run: async ({ fix = false }: { fix?: boolean }, target) => {
    const checks = await runChecks(target, { fix, describeError });
    const has = (status: string) => checks.some((line) => line.status === status);
    return { result: has('problem') ? 'problems' : has('unknown') ? 'incomplete' : 'healthy', checks };
  },
};
