import type { Command } from '../command.ts';
import { describeError } from '../describe-error.ts';
import { UsageError } from '../../cli/src/operation-parameters.ts';
import { checksBeforeUpgrade } from './before-upgrade.ts';
import { CHECKS, runChecks } from './run-checks.ts';

const PROBLEMS = 1;
/** Also when the doctor could not begin. */
const INCOMPLETE = 2;

interface Flags {
  fix?: boolean;
  beforeUpgrade?: boolean;
  settings?: string;
}

export const doctor: Command = {
  flags: {
    fix: { help: 'repair what can be repaired safely' },
    'before-upgrade': { help: 'say what this release needs of the installation of the release before; reads only' },
    settings: {
      value: 'FILE',
      help: 'with --before-upgrade: the settings of the installation; - reads standard input; default: .env',
    },
  },
  table: {
    rows: 'checks',
    columns: ['status', 'check', 'message'],
  },
  failureCode: INCOMPLETE,
  exitCode: ({ result }) => (result === 'problems' ? PROBLEMS : result === 'incomplete' ? INCOMPLETE : 0),
  run: async ({ fix = false, beforeUpgrade = false, settings }: Flags, target) => {
    if (beforeUpgrade && fix) throw new UsageError('--fix: --before-upgrade repairs nothing');
    if (settings !== undefined && !beforeUpgrade) throw new UsageError('--settings: needs --before-upgrade');
    const selected = beforeUpgrade ? checksBeforeUpgrade(settings) : CHECKS;
    const checks = await runChecks(selected, target, { fix, describeError });
    const has = (status: string) => checks.some((line) => line.status === status);
    return { result: has('problem') ? 'problems' : has('unknown') ? 'incomplete' : 'healthy', checks };
  },
};
