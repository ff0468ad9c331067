import { parseArgs } from 'node:util';
import { type Target, UsageError } from './target.ts';

/** A flag of a command. */
export interface Flag {
  type: 'string' | 'boolean';
  /** The placeholder of the value in the help. */
  value?: string;
  help: string;
  required?: true;
  /** May be repeated. */
  multiple?: true;
}

export interface Command {
  /** The two words that select the command. */
  name: string;
  summary: string;
  flags: Record<string, Flag>;
  /** Returns the object that `--json` prints. */
  run(values: FlagValues, target: Target): Promise<Record<string, unknown>>;
}

/** The values of the flags of one call. */
export interface FlagValues {
  text(flag: string): string | undefined;
  /** The value of a required flag; `parseCall` has checked that it is present. */
  required(flag: string): string;
  texts(flag: string): string[];
  /** `undefined` when neither the flag nor its `--no-` form is present. */
  flag(flag: string): boolean | undefined;
  /** A decimal number, or null for `none`. @throws UsageError for another value */
  number(flag: string): number | null | undefined;
  /** One of `choices`. @throws UsageError for another value */
  oneOf<Choice extends string>(flag: string, choices: readonly Choice[]): Choice | undefined;
}

export interface Call {
  values: FlagValues;
  json: boolean;
  help: boolean;
}

const COMMON = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

/** @throws UsageError naming a flag that is unknown, missing or repeated */
export function parseCall(command: Command, args: string[]): Call {
  const { values, tokens } = parse(command, args);
  const { json = false, help = false } = values;
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    if (seen.has(token.name) && command.flags[token.name]?.multiple !== true) {
      throw new UsageError(`--${token.name} is given twice`);
    }
    seen.add(token.name);
  }
  const missing = Object.entries(command.flags).find(([name, { required }]) => required === true && !seen.has(name));
  if (missing !== undefined && !help) throw new UsageError(`${command.name}: --${missing[0]} is missing`);
  return { values: read(values), json, help };
}

function parse(command: Command, args: string[]) {
  const options = Object.fromEntries(
    Object.entries(command.flags).map(([name, { type, multiple }]) => [name, { type, multiple: multiple === true }]),
  );
  try {
    return parseArgs({ args, options: { ...options, ...COMMON }, allowNegative: true, tokens: true });
  } catch (error) {
    // The other sentences are about positional arguments, which no command has.
    throw new UsageError(`${command.name}: ${(error as Error).message.split(/\.\s/, 1)[0]}`);
  }
}

function read(values: Record<string, string | boolean | (string | boolean)[] | undefined>): FlagValues {
  const text = (flag: string) => {
    const value = values[flag];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    text,
    required: (flag) => text(flag) ?? '',
    texts: (flag) => (Array.isArray(values[flag]) ? values[flag].map(String) : []),
    flag: (flag) => {
      const value = values[flag];
      return typeof value === 'boolean' ? value : undefined;
    },
    number: (flag) => {
      const value = text(flag);
      if (value === undefined) return undefined;
      if (value === 'none') return null;
      if (!/^\d+(?:\.\d+)?$/.test(value)) throw new UsageError(`--${flag}: ${value} is neither a number nor none`);
      return Number(value);
    },
    oneOf: (flag, choices) => {
      const value = text(flag);
      if (value === undefined) return undefined;
      const choice = choices.find((each) => each === value);
      if (choice === undefined) throw new UsageError(`--${flag}: ${value} is not one of ${choices.join(', ')}`);
      return choice;
    },
  };
}
