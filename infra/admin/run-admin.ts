import { DomainError } from '@tocsin/http';
import { describeStartFailure, type Environment, isDatabaseUnavailable } from '@tocsin/runtime';
import type { Command } from './command.ts';
import { completionCommand } from './completion-command.ts';
import { deadLetterCommands } from './dead-letter-commands.ts';
import { formatAnswer } from './format-answer.ts';
import { keyCommands } from './key-commands.ts';
import { parseCall } from './parse-call.ts';
import { slackCommands } from './slack-commands.ts';
import { UsageError, withTarget } from './target.ts';
import { userCommands } from './user-commands.ts';
import { webhookCommands } from './webhook-commands.ts';
import { workspaceCommands } from './workspace-commands.ts';

const MANAGEMENT: readonly Command[] = [
  ...workspaceCommands,
  ...userCommands,
  ...keyCommands,
  ...slackCommands,
  ...webhookCommands,
  ...deadLetterCommands,
];

const COMMANDS: readonly Command[] = [...MANAGEMENT, completionCommand(MANAGEMENT)];

/** The text for stdout after success, or the one-line error message for stderr. */
export interface Outcome {
  output?: string;
  error?: string;
}

/**
 * Runs a command line on the instance that `env` names.
 * @param print receives lines for stderr; one names each database or broker before it is used
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
  const call = parseCall(COMMANDS, args);
  if (call.kind === 'text') return call.text;
  const { command, values, json } = call;
  const answer =
    'run' in command
      ? await withTarget(env, print, async (target) => command.run(values, target))
      : await command.runFreely(values, { env, print });
  if (typeof answer === 'string') return answer;
  return json ? JSON.stringify(answer) : formatAnswer(command, answer);
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
