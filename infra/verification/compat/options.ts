import { parseArgs } from 'node:util';
import { COMBINATIONS } from './combinations.ts';
import { FAULTS } from './faults.ts';

export const USAGE = `npm run compat -- [options]

Runs the last release and the present sources together, with each app in turn from one of them and the others from the
other one, on a database that the present migrations made. Exits with 1 if anything fails.

  --against REVISION   run this git revision instead of the last release
  --only NAME          run only this combination; may be repeated
  --plant-fault NAME   plant a fault and succeed only if the checks notice it: ${FAULTS.map(({ name }) => name).join(', ')}
  --list               list the combinations and the faults
  --help               show this text`;

export type Options = ReturnType<typeof readOptions>;

/** @throws Error with a one-line message */
export function readOptions(args: string[]) {
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
    /** A git revision instead of the last release. */
    against: values.against,
    /** Do only this. */
    show: values.help ? 'help' : values.list ? 'list' : undefined,
  };
}

function find<Named extends { name: string }>(option: string, all: readonly Named[], name: string): Named {
  const found = all.find((each) => each.name === name);
  if (found === undefined) throw new Error(`${option}: there is no ${name}; --list names them`);
  return found;
}
