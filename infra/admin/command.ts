import { parseArgs } from 'node:util';
import type { Target } from './target.ts';
import { UsageError } from './usage-error.ts';

/** A flag of a command, as its help shows it. */
export interface Flag {
  type: 'string' | 'boolean';
  /** What the value stands for. */
  value?: string;
  help: string;
  required?: true;
  /** May be given several times. */
  multiple?: true;
}

export interface Command {
  /** The words that call it. */
  name: string;
  summary: string;
  flags: Record<string, Flag>;
  /** Answers the object that `--json` prints. */
  run(given: Given, target: Target): Promise<Record<string, unknown>>;
}

/** The flags of one call. */
export interface Given {
  text(flag: string): string | undefined;
  /** A required flag, which the call was checked for. */
  required(flag: string): string;
  texts(flag: string): string[];
  /** `undefined` where neither the flag nor its `--no-` form was given. */
  flag(flag: string): boolean | undefined;
  /** A decimal number, or null for `none`. @throws Error for anything else */
  number(flag: string): number | null | undefined;
  /** The value, if it is one of these. @throws Error for anything else */
  oneOf<Choice extends string>(flag: string, choices: readonly Choice[]): Choice | undefined;
}

export interface Call {
  given: Given;
  json: boolean;
  help: boolean;
}

const COMMON = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

/** @throws UsageError naming the flag that is unknown, missing or given twice */
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
  return { given: read(values), json, help };
}

function parse(command: Command, args: string[]) {
  const options = Object.fromEntries(
    Object.entries(command.flags).map(([name, { type, multiple }]) => [name, { type, multiple: multiple === true }]),
  );
  try {
    return parseArgs({ args, options: { ...options, ...COMMON }, allowNegative: true, tokens: true });
  } catch (error) {
    // What follows the first sentence is about things that no command has.
    throw new UsageError(`${command.name}: ${(error as Error).message.split(/\.\s/, 1)[0]}`);
  }
}

function read(values: Record<string, string | boolean | (string | boolean)[] | undefined>): Given {
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
      const choice = choices.find((known) => known === value);
      if (choice === undefined) throw new UsageError(`--${flag}: ${value} is none of ${choices.join(', ')}`);
      return choice;
    },
  };
}
