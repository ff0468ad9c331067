import type { Environment } from '@tocsin/runtime';
import { Argument, Command as Parser, CommanderError } from 'commander';
import { candidates, completionScript } from '../cli/src/completion.ts';
import { createOutput, type Output, type Row } from '../cli/src/output.ts';
import { ROOT } from '../installation/environment.ts';
import { addCommand, addParameters } from './add-command.ts';
import type { Answer, Command, CommandContext } from './command.ts';
import { COMMANDS, isCalled } from './commands.ts';

const CALL = 'npm run -s admin --';
/** What a shell completes: npm has a completion of its own. */
const SHELL_COMMAND = 'tocsin-admin';

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
  let text = '';
  let [exitCode, failureCode] = [0, 1];
  const write = (part: string) => (text += part);
  const asksVersion = args.some((word) => word === '-V' || word === '--version');
  const output = createOutput({ stdout: { write, isTTY: true, columns: Infinity }, stderr: { write } }, {});
  const program = new Parser(CALL)
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: () => undefined })
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .version(asksVersion ? await versionText(env) : '', '-V, --version', 'print the version')
    .option('--json', 'print one JSON object');
  for (const { name, summary, load } of COMMANDS) {
    const parser = addCommand(program, name, summary);
    if (!isCalled(name, args)) continue;
    const command = await load();
    addParameters(parser, command, async (values) => {
      failureCode = command.failureCode ?? failureCode;
      const answer = await runCommand(command, values, { env, print });
      if (program.opts<{ json?: boolean }>().json === true) output.line(JSON.stringify(answer));
      else show(output, command, answer);
      exitCode = command.exitCode?.(answer) ?? 0;
    });
  }
  program
    .command('completion')
    .description(`Print a script that defines ${SHELL_COMMAND} in a shell, and completes commands, flags and values`)
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action((shell: string) => {
      const call = `npm --prefix '${ROOT.replaceAll("'", `'\\''`)}' run -s admin --`;
      const definition =
        shell === 'fish' ? `function ${SHELL_COMMAND}; ${call} $argv; end` : `${SHELL_COMMAND}() { ${call} "$@"; }`;
      output.line(`${definition}\n${completionScript(shell, SHELL_COMMAND)}`);
    });
  try {
    if (args[0] === '--complete') output.line(candidates(program, args.slice(1)).join('\n'));
    else await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    const isHelp = error instanceof CommanderError && error.exitCode === 0;
    if (!isHelp) {
      const { describeError } = await import('./describe-error.ts');
      return { error: describeError(error), exitCode: failureCode };
    }
  }
  return { output: text.trimEnd(), exitCode };
}

async function runCommand(command: Command, values: object, context: CommandContext): Promise<Answer> {
  if ('runFreely' in command) return command.runFreely(values, context);
  const { withTarget } = await import('./target.ts');
  return withTarget(context.env, context.print, async (target) => command.run(values, target));
}

/** For people: the table of the command, or the properties and lists of its answer. */
function show(output: Output, { table }: Command, answer: Answer): void {
  if (table !== undefined) {
    const rows = typeof table.rows === 'string' ? (answer[table.rows] as Row[]) : table.rows(answer);
    if (rows.length === 0) output.line('none');
    output.rows(rows, table.columns);
    return;
  }
  for (const [name, value] of Object.entries(answer)) {
    if (Array.isArray(value) && value.length > 0) {
      output.line(name);
      output.rows(value as Row[], [...new Set((value as Row[]).flatMap((row) => Object.keys(row)))]);
      output.end();
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      output.line(name);
      output.reply({ [name]: value }, name);
    } else output.reply({ [name]: value }, undefined);
  }
}

/** The version, with the commit where it is known. */
async function versionText(env: Environment): Promise<string> {
  const { buildInfo } = await import('@tocsin/runtime');
  const { version, commit } = buildInfo(env['TOCSIN_COMMIT']);
  return commit === undefined ? version : `${version} (${commit})`;
}
