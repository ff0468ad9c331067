import { buildInfo, type Environment } from '@tocsin/runtime';
import type { Command } from './command.ts';
import { completionCommand } from './completion-command.ts';
import { deadLetterCommands } from './dead-letter-commands.ts';
import { describeError } from './describe-error.ts';
import { doctorCommand } from './doctor/doctor-command.ts';
import { formatAnswer } from './format-answer.ts';
import { keyCommands } from './key-commands.ts';
import { type Call, parseCall } from './parse-call.ts';
import { oidcCommands } from './oidc-commands.ts';
import { slackCommands } from './slack-commands.ts';
import { withTarget } from './target.ts';
import { userCommands } from './user-commands.ts';
import { webhookCommands } from './webhook-commands.ts';
import { workspaceCommands } from './workspace-commands.ts';

const MANAGEMENT: readonly Command[] = [
  ...workspaceCommands,
  ...userCommands,
  ...keyCommands,
  ...slackCommands,
  ...oidcCommands,
  ...webhookCommands,
  ...deadLetterCommands,
  doctorCommand,
];

const COMMANDS: readonly Command[] = [...MANAGEMENT, completionCommand(MANAGEMENT)];

/** The text for stdout, or the one-line error message for stderr. */
export interface Outcome {
  output?: string;
  error?: string;
  /** Of the process; 0 unless there is an error, or the command says so. */
  exitCode: number;
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
  let failureCode = 1;
  try {
    const call = parseCall({ commands: COMMANDS, args, version: versionText(env) });
    if (call.kind === 'text') return { output: call.text, exitCode: 0 };
    failureCode = call.command.failureCode ?? failureCode;
    return await run(call, env, print);
  } catch (error) {
    return { error: describeError(error), exitCode: failureCode };
  }
}

async function run(
  { command, values, json }: Extract<Call, { kind: 'run' }>,
  env: Environment,
  print: (line: string) => void,
): Promise<Outcome> {
  const answer =
    'run' in command
      ? await withTarget(env, print, async (target) => command.run(values, target))
      : await command.runFreely(values, { env, print });
  if (typeof answer === 'string') return { output: answer, exitCode: 0 };
  const output = json ? JSON.stringify(answer) : formatAnswer(command, answer);
  return { output, exitCode: command.exitCode?.(answer) ?? 0 };
}

/** The version, with the commit where it is known. */
function versionText(env: Environment): string {
  const { version, commit } = buildInfo(env['TOCSIN_COMMIT']);
  return commit === undefined ? version : `${version} (${commit})`;
}
