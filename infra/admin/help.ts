import type { Command, Flag } from './command.ts';

const CALL = 'npm run -s admin --';

export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  return [
    `usage: ${CALL} <command> [flags]`,
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`),
    '',
    '  --json  print one JSON object',
    '  --help  explain a command',
  ].join('\n');
}

export function commandHelp({ name, summary, flags }: Command): string {
  const flagLines = Object.entries(flags).map(([flag, definition]) => ({
    flag: withValue(flag, definition),
    ...definition,
  }));
  const width = Math.max(...flagLines.map(({ flag }) => flag.length)) + 2;
  const usage = flagLines.map(({ flag, required }) => (required === true ? flag : `[${flag}]`)).join(' ');
  return [
    `usage: ${CALL} ${name} ${usage} [--json]`,
    '',
    summary,
    '',
    ...flagLines.map(({ flag, help }) => `  ${flag.padEnd(width)}${help}`),
  ].join('\n');
}

const withValue = (flag: string, { value }: Flag) => (value === undefined ? `--${flag}` : `--${flag} ${value}`);
