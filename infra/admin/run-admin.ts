import { DomainError } from '@tocsin/http';
import { describeStartFailure, type Environment, isDatabaseUnavailable } from '@tocsin/runtime';
import { type Command, parseCall } from './command.ts';
import { explanation, overview } from './help.ts';
import { keyCommands } from './key-commands.ts';
import { slackCommands } from './slack-commands.ts';
import { targetEnvironment, withTarget } from './target.ts';
import { UsageError } from './usage-error.ts';
import { userCommands } from './user-commands.ts';
import { readable } from './views.ts';
import { workspaceCommands } from './workspace-commands.ts';

const COMMANDS: readonly Command[] = [...workspaceCommands, ...userCommands, ...keyCommands, ...slackCommands];

/** What goes to stdout when the command was done, or the one line that says why it was not. */
export interface Outcome {
  printed?: string;
  fault?: string;
}

/** Does what the words of a command line ask for, on the instance that `env` leads to. */
export async function runAdmin(args: string[], env: Environment): Promise<Outcome> {
  try {
    return { printed: await run(args, env) };
  } catch (error) {
    return { fault: reason(error) };
  }
}

async function run(args: string[], env: Environment): Promise<string> {
  if (args.length === 1 && (args[0] === '--help' || args[0] === '-h')) return overview(COMMANDS);
  const command = COMMANDS.find(({ name }) => name === args.slice(0, 2).join(' '));
  if (command === undefined) throw new UsageError(unknown(args));
  const { given, json, help } = parseCall(command, args.slice(2));
  if (help) return explanation(command);
  const answer = await withTarget(await targetEnvironment(env), async (target) => command.run(given, target));
  return json ? JSON.stringify(answer) : readable(answer).join('\n');
}

function unknown(args: string[]): string {
  const words = args.filter((word) => !word.startsWith('-')).slice(0, 2);
  const what = words.length === 0 ? 'name a command' : `there is no command ${words.join(' ')}`;
  return `${what}: ${COMMANDS.map(({ name }) => name).join(', ')}`;
}

const NO_DATABASE = '3D000';
const UNDEFINED_TABLE = '42P01';
const UNDEFINED_SCHEMA = '3F000';

/** One line, for whoever gave the command. */
function reason(error: unknown): string {
  if (error instanceof UsageError || error instanceof DomainError) return error.message;
  if (isDatabaseUnavailable(error)) return `the database cannot be reached: ${describeStartFailure(error)}`;
  const { code } = error as NodeJS.ErrnoException;
  if (code === NO_DATABASE) {
    return `${(error as Error).message}: no instance is running on the data folder, and DATABASE_URL leads to none`;
  }
  if (code === UNDEFINED_TABLE || code === UNDEFINED_SCHEMA) return 'the database is not set up: run npm run migrate';
  return describeStartFailure(error).replaceAll(/\s*\n\s*/g, '; ');
}
