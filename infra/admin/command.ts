import type { Environment } from '@tocsin/runtime';
import type { FlagValues } from './flag-values.ts';
import type { Column, Row } from './table.ts';
import { type Target, UsageError } from './target.ts';

/** A flag of a command. */
export interface Flag {
  /** The placeholder of the value in the help; a flag without it is true or false. */
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
  /** How the answer is printed as a table for people; `rows` may be the property that has them. */
  table?: { rows: string | ((answer: Answer) => Row[]); columns: readonly Column[] };
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

/** The workspace that a command works on. */
export const workspaceFlag: Flag = { value: 'SLUG', help: 'the workspace', required: true };

/** @throws UsageError unless the text is an integer from 1 */
export function parseId(text: string, name: string): number {
  const id = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id) || id < 1) {
    throw new UsageError(`${name}: must be an integer of at least 1`);
  }
  return id;
}
