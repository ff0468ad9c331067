import type { Environment } from '@tocsin/runtime';
import type { Column, Row } from './table.ts';
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
  /** The only values. */
  choices?: readonly string[];
  /** Has a `--no-` form. */
  negatable?: true;
  /** The value is the name of a file. */
  isFile?: true;
}

interface CommandBase {
  /** The words that select the command. */
  name: string;
  summary: string;
  /** The one value that stands without a flag. */
  argument?: { name: string; help: string; choices?: readonly string[] };
  flags: Record<string, Flag>;
  /** How the answer is printed as a table for people. */
  table?: { rows(answer: Answer): Row[]; columns: readonly Column[] };
  /** The exit code of the process for an answer; 0 by default. */
  exitCode?(answer: Answer): number;
  /** The exit code when there is no answer; 1 by default. */
  failureCode?: number;
}

/** The object that `--json` prints. */
export type Answer = Record<string, unknown>;

/** A command that works on the databases of an instance. */
interface TargetCommand extends CommandBase {
  run(values: FlagValues, target: Target): Promise<Answer>;
}

/** A command that needs no database, or that finds by itself what it works on. A string is printed as it is. */
interface FreeCommand extends CommandBase {
  runFreely(values: FlagValues, context: CommandContext): Promise<Answer | string>;
}

export type Command = TargetCommand | FreeCommand;

export interface CommandContext {
  env: Environment;
  /** Receives a line for stderr. */
  print: (line: string) => void;
}

/** The values of the flags of one call. */
export interface FlagValues {
  /** The value without a flag; empty for a command that has none. */
  argument: string;
  text(flag: string): string | undefined;
  /** The value of a required flag; the parser has checked that it is present. */
  required(flag: string): string;
  texts(flag: string): string[];
  /** `undefined` when neither the flag nor its `--no-` form is present. */
  flag(flag: string): boolean | undefined;
  /** A decimal number, or null for `none`. @throws UsageError for another value */
  number(flag: string): number | null | undefined;
  /** One of `choices`. @throws UsageError for another value */
  oneOf<Choice extends string>(flag: string, choices: readonly Choice[]): Choice | undefined;
}

/** @throws UsageError unless the text is an integer from 1 */
export function parseId(text: string, name: string): number {
  const id = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id) || id < 1) {
    throw new UsageError(`${name}: must be an integer of at least 1`);
  }
  return id;
}
