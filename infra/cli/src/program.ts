/**
 * `cli` is the command `tocsin`, a client of the public API for people, scripts and agents (ADR 60). This file makes a
 * command of each operation in the table of the SDK, and adds those that are more than an operation. `listen` stores
 * the cursor of the event feed only behind what was accepted: a restart repeats one event at most, and loses none.
 * `workspace/` compares files with a workspace: the server checks each step of a plan before, each write names the
 * revision that it is based on, and what somebody has changed meanwhile ends the run. `transfer/` fetches history into a
 * folder, converts it by a mapping, sends it and compares it; each step can be repeated. `mcp/` serves agents, with the
 * scopes of their key. The exit code is 1 if something is refused, 2 for wrong usage, and 3 if the server cannot be
 * reached.
 */
import { styleText } from 'node:util';
import { type OperationEntry, OPERATIONS } from '@tocsin/sdk/operations';
import { Command, CommanderError, Option } from 'commander';
import type { ApiFlags } from './api.ts';
import { resourceCommand } from './command-names.ts';
import type { ListenFlags } from './listen.ts';
import type { LoginFlags } from './login.ts';
import { operationCommand } from './operation-command.ts';
import type { McpFlags } from './mcp/serve.ts';
import { visible, visibleLines } from './visible.ts';
import { PARAMETERS } from './parameters.ts';
import type { FollowFlags } from './tail.ts';
import { addTransfer } from './transfer/commands.ts';
import { versionOf } from './version.ts';
import { type Call, createCall, Exit, type GlobalOptions, type Session } from './session.ts';
import type { ExportFlags, PlanFlags } from './workspace/commands.ts';

type Begin = (command: Command) => Call;

/** Collects a repeatable option. */
const append = (text: string, before: string[]) => [...before, text];

/** Collects a repeatable option whose texts may also be separated by commas. */
const join = (text: string, before?: string) => (before === undefined ? text : `${before},${text}`);

const example = (text: string) => `\nExample:\n  tocsin ${text}`;

/** Commands that are more than an operation. Each is loaded when it runs. */
function addCommands(program: Command, begin: Begin): void {
  addContexts(program, begin);
  addReaders(program, begin);
  addRequests(program, begin);
  addTransfer(program, begin);
  addWorkspace(program, begin);
  program
    .command('mcp')
    .description('serve agents by the Model Context Protocol on stdin and stdout')
    .option('--http', 'serve them by HTTP, each request with the API key that it sends')
    .option('--listen <address>', 'with --http; default: 127.0.0.1:8484')
    .option('--allow-host <name>', 'with --http: a host name besides localhost; repeatable', append, [])
    .addHelpText('after', example('mcp'))
    .action(async (flags: McpFlags, command: Command) => (await import('./mcp/serve.ts')).serve(begin(command), flags));
  program
    .command('completion')
    .description('print the completion of a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', '\nExample:\n  source <(tocsin completion bash)')
    .action(async (shell: string, _: unknown, command: Command) =>
      begin(command).output.line((await import('./completion.ts')).completionScript(shell)),
    );
}

/** The stored workspaces, and who calls. */
function addContexts(program: Command, begin: Begin): void {
  program
    .command('login')
    .description('store the address and the token of a workspace; the token is read from stdin')
    .requiredOption('--url <url>', 'the address of the workspace')
    .option('--name <name>', 'of the context; default: the slug of the workspace')
    .addHelpText('after', example('login --url http://localhost:8080 < token.txt'))
    .action(async (flags: LoginFlags, command: Command) => (await import('./login.ts')).login(begin(command), flags));
  program
    .command('logout')
    .description('remove a stored context')
    .argument('[name]', 'default: the current one')
    .addHelpText('after', example('logout acme'))
    .action(async (name: string | undefined, _: unknown, command: Command) =>
      (await import('./login.ts')).logout(begin(command), name),
    );
  program
    .command('contexts')
    .description('list the stored contexts, or make one the current one')
    .argument('[name]')
    .addHelpText('after', example('contexts acme'))
    .action(async (name: string | undefined, _: unknown, command: Command) =>
      (await import('./login.ts')).contexts(begin(command), name),
    );
  program
    .command('whoami')
    .description('show the user, the workspace and the scopes of the token')
    .addHelpText('after', example('whoami'))
    .action(async (_: unknown, command: Command) => {
      const { connect, output, session } = begin(command);
      const me = await (await connect()).me.get({ signal: session.signal });
      const { user, workspace, permissions, api_key: key } = me;
      const { email, role, seat } = user;
      const summary = { workspace: workspace.slug, user: email, role, seat, permissions, scopes: key.scopes.join(' ') };
      output.reply(output.isTable ? summary : me, undefined);
    });
}

/** Programs that read the events of the feed. */
function addReaders(program: Command, begin: Begin): void {
  program
    .command('listen')
    .description(
      'send the events of the feed to an address of this machine, signed as webhooks; loses none while it is off',
    )
    .requiredOption('--forward-to <url>', 'the address that receives them')
    .option('--types <types>', 'types of events, separated by commas', join)
    .option('--resource <resource>', 'such as incident:INC-12 or service:checkout')
    .option('--from <place>', 'where to begin the first time: beginning, now or a time', 'now')
    .option('--secret <secret>', 'default: one is made, kept and printed')
    .option('--reset', 'forget where it was')
    .addHelpText('after', example('listen --forward-to http://localhost:3000/hooks'))
    .action(async (flags: ListenFlags, command: Command) =>
      (await import('./listen.ts')).listen(begin(command), flags),
    );
}

/** Any request, and what the server says of it. */
function addRequests(program: Command, begin: Begin): void {
  program
    .command('api')
    .description('send any request')
    .argument('<method>')
    .argument('<path>', 'from /api/v1 on, which may be left out; with its query')
    .option('--data <json>', 'the body as JSON, @file or - for stdin')
    .option('--header <header>', 'name: value; repeatable', append, [])
    .addHelpText('after', example("api GET '/incidents?status=open'"))
    .action(async (method: string, path: string, flags: ApiFlags, command: Command) =>
      (await import('./api.ts')).api(begin(command), method, path, flags),
    );
  program
    .command('describe')
    .description('explain an operation, as the server describes it; without one, list all')
    .argument('[operation...]', 'its ID, or the words of its command')
    .addHelpText('after', example('describe incidents declare'))
    .action(async (words: string[], _: unknown, command: Command) =>
      (await import('./describe.ts')).describe(begin(command), words),
    );
}

/** The workspace as code. */
function addWorkspace(program: Command, begin: Begin): void {
  const workspace = async () => import('./workspace/commands.ts');
  const ofWorkspace = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option('--only-tag <tag>', 'only services with this tag')
      .option('--only-external-id <prefix>', 'only services, teams and fields whose external ID begins with this');
  const ofFiles = (name: string, description: string) =>
    ofWorkspace(name, description)
      .argument('<files...>', 'YAML or JSON files of the workspace, or folders of them; - for stdin')
      .option(
        '--prune <lists>',
        'archive what no file names: services, teams, fields, webhooks, destinations or members, with commas',
        join,
      )
      .option('--secrets-to <file>', 'where the signing secrets of new webhooks are appended')
      .addOption(
        new Option(
          '--from <source>',
          'what the files are, if not YAML files of the workspace: backstage: folders of a catalog; csv: services',
        ).choices(['backstage', 'csv']),
      );
  ofFiles('plan', 'say what YAML files would change in the workspace; exit code 2 if that is something')
    .option('--out <file>', 'store the plan, for apply')
    .addHelpText('after', example('plan workspace.yaml --out plan.json'))
    .action(async (files: string[], flags: PlanFlags, command: Command) =>
      (await workspace()).plan(begin(command), files, flags),
    );
  ofFiles('apply', 'carry out a stored plan, or what YAML files change')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('apply plan.json'))
    .action(async (files: string[], flags: PlanFlags, command: Command) =>
      (await workspace()).apply(begin(command), files, flags),
    );
  ofWorkspace('export', 'write the workspace as a YAML file, whose comments and order are kept')
    .argument('[file]', 'default: stdout')
    .option(
      '--kinds <lists>',
      'configuration, users, teams, services, fields, webhooks or destinations, with commas; default: all',
      join,
    )
    .addHelpText('after', example('export workspace.yaml'))
    .action(async (file: string | undefined, flags: ExportFlags, command: Command) =>
      (await workspace()).exportWorkspace(begin(command), file, flags),
    );
}

/** Further commands of resources. */
function addToResource(resource: string, command: Command, begin: Begin): void {
  if (resource === 'incidents') {
    command
      .command('export')
      .description('print all incidents with their history as lines of JSON')
      .option('--cursor <cursor>', 'go on behind the last position of an export that broke off')
      .addHelpText('after', '\nExample:\n  tocsin incidents export > export.ndjson')
      .action(async (flags: { cursor?: string }, exportCommand: Command) =>
        (await import('./export.ts')).exportIncidents(begin(exportCommand), flags),
      );
  }
  if (resource === 'events') {
    command
      .command('tail')
      .description('print the events as they come, until Ctrl-C')
      .option('--types <types>', 'types of events, separated by commas', join)
      .option('--resource <resource>', 'such as incident:INC-12 or service:checkout')
      .option('--from <place>', 'beginning, now or a time', 'now')
      .option('--after <cursor>', 'behind this cursor')
      .addHelpText('after', '\nExample:\n  tocsin events tail --types incident.created,incident.updated')
      .action(async (flags: FollowFlags, tailCommand: Command) =>
        (await import('./tail.ts')).tail(begin(tailCommand), flags),
      );
  }
}

/** @param args of the resources, only those that they name get their commands: a start takes time for each */
export function createProgram(session: Session, args: readonly string[]): Command {
  const begin: Begin = (command) => createCall(session, command.optsWithGlobals<GlobalOptions>());
  const program = new Command('tocsin')
    .description('The command line of Tocsin')
    .version(versionOf())
    .option('--context <name>', 'a stored workspace')
    .option('--json', 'print JSON, as without a terminal')
    .option('--quiet', 'print only IDs')
    .addHelpText('after', "\nExample:\n  tocsin incidents declare --title 'Checkout is down' --severity sev1")
    .showSuggestionAfterError();
  addCommands(program, begin);
  const resources = new Map<string, Command>();
  for (const [id, operation] of Object.entries<OperationEntry>(OPERATIONS)) {
    const parameters = PARAMETERS[id];
    const name = resourceCommand(operation.name.slice(0, operation.name.indexOf('.')));
    // `whoami` is its only operation.
    if (parameters === undefined || name === 'me') continue;
    const resource = resources.get(name) ?? program.command(name).description(`the operations of ${name}`);
    if (!resources.has(name) && args.includes(name)) addToResource(name, resource, begin);
    resources.set(name, resource);
    if (args.includes(name)) resource.addCommand(operationCommand(id, operation, parameters, begin));
  }
  for (const [name, resource] of resources)
    resource.addHelpText('after', () => `\nExample:\n  tocsin ${name} ${resource.commands[0]?.name() ?? ''} --help`);
  return program;
}

/** Parsers of values, except for choices, collect. */
const isCollected = ({ parseArg, argChoices }: Option) => parseArg !== undefined && argChoices === undefined;

/** Runs a command. Returns its exit code: 0 done, 1 refused, 2 usage, or differences of a plan, 3 unreachable. */
export async function runProgram(args: readonly string[], session: Session): Promise<number> {
  const program = createProgram(session, args);
  const configure = (command: Command): void => {
    command.exitOverride().configureOutput({
      writeOut: (text) => void session.stdout.write(text),
      // It repeats arguments.
      writeErr: (text) => void session.stderr.write(visibleLines(text)),
    });
    for (const option of command.options.filter((each) => each.required && !isCollected(each))) {
      let isGiven = false;
      command.on(`option:${option.name()}`, () => {
        if (isGiven) command.error(`error: option '${option.flags}' is given twice`);
        isGiven = true;
      });
    }
    for (const each of command.commands) configure(each);
  };
  configure(program);
  try {
    if (args[0] === '--complete') {
      const { candidates } = await import('./completion.ts');
      session.stdout.write(`${candidates(program, args.slice(1)).join('\n')}\n`);
      return 0;
    }
    if (['https_proxy', 'HTTPS_PROXY'].some((name) => name in session.env))
      (await import('./proxy.ts')).useProxy(session);
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed its own.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof Exit) return error.code;
    // As shells report a program that Ctrl-C has ended.
    if (session.signal.aborted) return 130;
    const { exitCodeOf, messageOf } = await import('./describe-error.ts');
    const red = session.stderr.isTTY === true ? (text: string) => styleText('red', text) : String;
    session.stderr.write(`${red('error:')} ${visible(messageOf(error))}\n`);
    return exitCodeOf(error);
  }
}
