import type { Environment } from '@tocsin/runtime';
import type { Row } from '../cli/src/output.ts';
import { UsageError } from '../cli/src/operation-parameters.ts';
import type { Target } from './target.ts';

/** What a value may be. */
interface Value {
  help: string;
  /** The only values. */
  choices?: readonly string[];
  /** @param name of the flag or the argument. @throws UsageError */
  parse?(text: string, name: string): unknown;
}

/** A flag of a command. */
export interface Flag extends Value {
  /** The placeholder of the value in the help; a flag without it is true or false. */
  value?: string;
  required?: true;
  /** May be repeated. */
  multiple?: true;
  /** Has a `--no-` form. */
  negatable?: true;
}

interface CommandBase {
  /** The one value that stands without a flag. */
  argument?: { name: string } & Value;
  flags: Record<string, Flag>;
  /** How the answer is printed as a table for people; `rows` may be the property that has them. */
  table?: { rows: string | ((answer: Answer) => Row[]); columns: readonly string[] };
  /** The exit code of the process for an answer; 0 by default. */
  exitCode?(answer: Answer): number;
  /** The exit code when there is no answer; 1 by default. */
  failureCode?: number;
}

/** The object that `--json` prints. */
export type Answer = Record<string, unknown>;

/** A command that works on the databases of an instance. @param values of its flags in camel case, and its argument */
interface TargetCommand extends CommandBase {
  run(values: object, target: Target): Promise<Answer>;
}

/** A command that needs no database, or that finds by itself what it works on. */
interface FreeCommand extends CommandBase {
  runFreely(values: object, context: CommandContext): Promise<Answer>;
}

export type Command = TargetCommand | FreeCommand;

export interface CommandContext {
  env: Environment;
  /** Receives a line for stderr. */
  print: (line: string) => void;
}

/** The workspace that a command works on. */
export const workspaceFlag: Flag = { value: 'SLUG', help: 'the workspace', required: true };
/** The workspace itself. */
export const slugFlag: Flag = { value: 'SLUG', help: 'the first label of its host name', required: true };

/** @throws UsageError unless the text is an integer from 1 to `max` */
export function parsePositive(text: string, name: string, max = Number.MAX_SAFE_INTEGER): number {
  const number = Number(text);
  if (/^[1-9]\d*$/.test(text) && number <= max) return number;
  throw new UsageError(
    `${name}: must be an integer of at least 1${max < Number.MAX_SAFE_INTEGER ? `, at most ${max}` : ''}`,
  );
}
