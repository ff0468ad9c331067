import { Command as Parser, CommanderError, Option } from 'commander';
import type { Command, Flag } from './command.ts';
import { type FlagValues, flagValues } from './flag-values.ts';
import { UsageError } from './target.ts';

const CALL = 'npm run -s admin --';

/** What a command line asks for. */
export type Call =
  | { kind: 'run'; command: Command; values: FlagValues; json: boolean }
  /** Help, or the version. */
  | { kind: 'text'; text: string };

/** @throws UsageError for a command line that no command accepts */
export function parseCall(options: {
  commands: readonly Command[];
  args: readonly string[];
  /** What `--version` prints. */
  version: string;
}): Call {
  const { commands, args, version } = options;
  let call: Call | undefined;
  let text = '';
  const root = new Parser(CALL)
    .exitOverride()
    .configureOutput({ writeOut: (part) => (text += part), writeErr: () => undefined })
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command');
  refuseOthers(root, commands, args);
  for (const command of commands) {
    addCommand(groupOf(root, command, commands, args), command, args, (parsed) => (call = parsed));
  }
  root.configureHelp({ visibleCommands: (parser) => (parser === root ? [] : [...parser.commands]) });
  root.addHelpText('after', `\n${overview(commands)}`);
  try {
    root.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: 'text', text: text.trimEnd() };
    throw new UsageError(describe(error, findCommand(commands, args)));
  }
  return call ?? { kind: 'text', text: text.trimEnd() };
}

/** The command that the first words of a command line name. */
function findCommand(commands: readonly Command[], args: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, index) => args[index] === word));
}

/** The parser of all words of a command but the last. */
function groupOf(root: Parser, { name }: Command, commands: readonly Command[], args: readonly string[]): Parser {
  return name
    .split(' ')
    .slice(0, -1)
    .reduce((parent, word, index, words) => {
      const existing = parent.commands.find((each) => each.name() === word);
      if (existing !== undefined) return existing;
      const group = parent.command(word);
      const prefix = `${words.slice(0, index + 1).join(' ')} `;
      const members = commands.filter((each) => each.name.startsWith(prefix));
      refuseOthers(group, members, args);
      return group;
    }, root);
}

/** Makes a parser that is no command itself refuse every word that is not one of its commands. */
function refuseOthers(parser: Parser, members: readonly Command[], args: readonly string[]): void {
  parser
    .usage('<command> [flags]')
    .helpCommand(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      const all = members.map(({ name }) => (parser.parent === null ? (name.split(' ', 1)[0] ?? '') : name));
      const names = [...new Set(all)].join(', ');
      const flag = args.findIndex((word) => word.startsWith('-'));
      const words = (flag === -1 ? args : args.slice(0, flag)).slice(0, 3).join(' ');
      throw new UsageError(
        words === '' ? `name a command, --help lists them: ${names}` : `there is no command ${words}: ${names}`,
      );
    });
}

function addCommand(parent: Parser, command: Command, args: readonly string[], onParsed: (call: Call) => void): void {
  const parser = parent
    .command(command.name.slice(command.name.lastIndexOf(' ') + 1))
    .description(command.summary)
    .helpCommand(false)
    .allowExcessArguments(false)
    .allowUnknownOption(false);
  const { argument } = command;
  if (argument !== undefined) parser.argument(`<${argument.name}>`, argument.help);
  const options = new Map<string, Option>();
  for (const [name, flag] of Object.entries(command.flags)) {
    const option = optionOf(name, flag, args);
    options.set(name, option);
    parser.addOption(option);
    if (flag.negatable === true) parser.addOption(new Option(`--no-${name}`, `undoes --${name}`));
    if (flag.multiple !== true) refuseRepetition(parser, name);
  }
  parser.option('--json', 'print one JSON object');
  parser.action(() => {
    const read = parser.opts<Record<string, unknown>>();
    const values = new Map([...options].map(([name, option]) => [name, read[option.attributeName()]]));
    const [given = ''] = parser.args;
    if (argument?.choices?.includes(given) === false) {
      throw new UsageError(`${argument.name}: ${given} is not one of ${argument.choices.join(', ')}`);
    }
    onParsed({ kind: 'run', command, values: flagValues(values, given), json: read['json'] === true });
  });
}

function optionOf(name: string, flag: Flag, args: readonly string[]): Option {
  const help = flag.choices === undefined ? flag.help : [flag.help, flag.choices.join(', ')].filter(Boolean).join(': ');
  if (flag.value === undefined) return new Option(`--${name}`, help);
  const option = new Option(`--${name} <${flag.value}>`, help).makeOptionMandatory(flag.required === true);
  return option.argParser((value: string, previous: unknown) => {
    // The next flag is not a value: a forgotten value must not become one.
    if (value.startsWith('-') && value !== '-' && !args.includes(`--${name}=${value}`)) {
      throw new UsageError(`--${name}: the value is missing (if it is ${value}, write --${name}=${value})`);
    }
    return flag.multiple === true ? [...(Array.isArray(previous) ? (previous as string[]) : []), value] : value;
  });
}

function refuseRepetition(parser: Parser, name: string): void {
  let seen = false;
  const check = () => {
    if (seen) throw new UsageError(`--${name} is given twice`);
    seen = true;
  };
  parser.on(`option:${name}`, check);
  parser.on(`option:no-${name}`, check);
}

function describe({ message }: CommanderError, command: Command | undefined): string {
  const lines = message.replace(/^error: /, '').split('\n');
  const line = lines.map((part) => part.trim()).join(' ');
  return command === undefined ? line : `${command.name}: ${line}`;
}

function overview(commands: readonly Command[]): string {
  const titleOf = ({ name, argument }: Command) => (argument === undefined ? name : `${name} <${argument.name}>`);
  const width = Math.max(...commands.map((command) => titleOf(command).length)) + 2;
  return ['Commands:', ...commands.map((command) => `  ${titleOf(command).padEnd(width)}${command.summary}`)].join(
    '\n',
  );
}
