import { Argument, Command as Parser, Option } from 'commander';
import { UsageError } from '../cli/src/operation-parameters.ts';
import type { Command, Flag } from './command.ts';

/** Adds a command to a program, in the groups that its words before the last one name. */
export const addCommand = (program: Parser, name: string, summary: string): Parser =>
  name
    .split(' ')
    .reduce((parent, word) => parent.commands.find((each) => each.name() === word) ?? addWord(parent, word), program)
    .description(summary);

/** Adds what a command takes, and what it does. */
export function addParameters(
  parser: Parser,
  { argument, flags }: Command,
  run: (values: object) => Promise<void>,
): void {
  if (argument !== undefined) {
    const { help, choices, parse = String } = argument;
    const added = new Argument(`<${argument.name}>`, help);
    parser.addArgument(
      choices === undefined ? added.argParser((text) => parse(text, argument.name)) : added.choices(choices),
    );
  }
  for (const [flag, definition] of Object.entries(flags)) {
    parser.addOption(optionOf(flag, definition));
    if (definition.negatable === true) parser.addOption(new Option(`--no-${flag}`, `undoes --${flag}`));
    if (definition.multiple === true) continue;
    let isGiven = false;
    for (const event of [`option:${flag}`, `option:no-${flag}`]) {
      parser.on(event, () => {
        if (isGiven) throw new UsageError(`--${flag} is given twice`);
        isGiven = true;
      });
    }
  }
  parser.action(async (...given: unknown[]) =>
    run({ ...parser.opts(), ...(argument !== undefined && { [argument.name]: given[0] }) }),
  );
}

/** The help of a group lists what may follow. */
function addWord(parent: Parser, word: string): Parser {
  if (parent.parent !== null) parent.description([parent.description(), word].filter((part) => part !== '').join(', '));
  return parent.command(word);
}

function optionOf(name: string, { value, help, choices, multiple, required, parse = String }: Flag): Option {
  if (value === undefined) return new Option(`--${name}`, help);
  const option = new Option(`--${name} <${value}>`, help).makeOptionMandatory(required === true);
  if (choices !== undefined) option.choices(choices);
  return option.argParser((text: string, before: unknown) => {
    // A forgotten value must not become the next flag.
    if (text.startsWith('--')) throw new UsageError(`--${name}: the value is missing`);
    if (choices?.includes(text) === false) {
      throw new UsageError(`--${name}: ${text} is not one of ${choices.join(', ')}`);
    }
    const parsed = parse(text, `--${name}`);
    return multiple === true ? [...((before as unknown[] | undefined) ?? []), parsed] : parsed;
  });
}
