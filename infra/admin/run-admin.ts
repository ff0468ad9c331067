import { DomainError } from '@tocsin/http';
import { describeStartFailure, type Environment, isDatabaseUnavailable } from '@tocsin/runtime';
import { type Command, parseCall } from './command.ts';
import { commandHelp, overview } from './help.ts';
import { keyCommands } from './key-commands.ts';
import { slackCommands } from './slack-commands.ts';
import { UsageError, withTarget } from './target.ts';
import { userCommands } from './user-commands.ts';
import { formatAnswer } from './views.ts';
import { workspaceCommands } from './workspace-commands.ts';

const COMMANDS: readonly Command[] = [...workspaceCommands, ...userCommands, ...keyCommands, ...slackCommands];

/** The text for stdout after success, or the one-line error message for stderr. */
export interface Outcome {
  output?: string;
  error?: string;
}

/**
 * Runs a command line on the instance that `env` names.
 * @param print receives a line that names each database before it is used
 */
export async function runAdmin(
  args: string[],
  env: Environment,
  print: (line: string) => void = () => undefined,
): Promise<Outcome> {
  try {
    return { output: await run(args, env, print) };
  } catch (error) {
    return { error: describeError(error) };
  }
}

async function run(args: string[], env: Environment, print: (line: string) => void): Promise<string> {
  if (args.length === 1 && (args[0] === '--help' || args[0] === '-h')) return overview(COMMANDS);
  const command = COMMANDS.find(({ name }) => name === args.slice(0, 2).join(' '));
  if (command === undefined) throw new UsageError(unknownCommand(args));
  const { values, json, help } = parseCall(command, args.slice(2));
  if (help) return commandHelp(command);
  const answer = await withTarget(env, print, async (target) => command.run(values, target));
  return json ? JSON.stringify(answer) : formatAnswer(answer).join('\n');
}

function unknownCommand(args: string[]): string {
  const words = args.filter((word) => !word.startsWith('-')).slice(0, 2);
  const what = words.length === 0 ? 'name a command' : `there is no command ${words.join(' ')}`;
  return `${what}: ${COMMANDS.map(({ name }) => name).join(', ')}`;
}

const NO_DATABASE = '3D000';
const UNDEFINED_TABLE = '42P01';
const UNDEFINED_SCHEMA = '3F000';

/** The message of an error, in one line. */
function describeError(error: unknown): string {
  if (error instanceof UsageError || error instanceof DomainError) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code === NO_DATABASE) {
    return `${(error as Error).message}: correct the setting that names it, or run npm run migrate`;
  }
  if (code === UNDEFINED_TABLE || code === UNDEFINED_SCHEMA) return 'the database is not set up: run npm run migrate';
  if (isDatabaseUnavailable(error)) return `cannot reach the database: ${describeStartFailure(error)}`;
  return describeStartFailure(error)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('; ');
}
