import { parseArgs } from 'node:util';
import { type Combination, COMBINATIONS } from './combinations.ts';
import { type Fault, FAULTS } from './faults.ts';

export const USAGE = `npm run compat -- [options]

Runs the last release and the present sources together, with each app in turn from one of them and the others from the
other one, on a database that the present migrations made. Exits with 1 if anything fails.

  --against REVISION   run this git revision instead of the last release
  --only NAME          run only this combination; may be repeated
  --plant-fault NAME   plant a fault and succeed only if the checks notice it: ${FAULTS.map(({ name }) => name).join(', ')}
  --list               list the combinations and the faults
  --help               show this text`;

export interface Options {
  combinations: readonly Combination[];
  fault: Fault | undefined;
  /** A git revision instead of the last release. */
  against: string | undefined;
  /** Do only this. */
  show?: 'help' | 'list';
}

/** @throws Error with a one-line message */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      against: { type: 'string' },
      only: { type: 'string', multiple: true },
      'plant-fault': { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const fault = values['plant-fault'] === undefined ? undefined : find('--plant-fault', FAULTS, values['plant-fault']);
  return {
    // A fault concerns the old release.
    combinations:
      values.only?.map((name) => find('--only', COMBINATIONS, name)) ??
      (fault === undefined ? COMBINATIONS : COMBINATIONS.slice(0, 1)),
    fault,
    against: values.against,
    ...(values.list && { show: 'list' as const }),
    ...(values.help && { show: 'help' as const }),
  };
}

function find<Named extends { name: string }>(option: string, all: readonly Named[], name: string): Named {
  const found = all.find((each) => each.name === name);
  if (found === undefined) throw new Error(`${option}: there is no ${name}; --list names them`);
  return found;
}
