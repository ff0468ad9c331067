import { stripVTControlCharacters, styleText } from 'node:util';
import { z } from 'zod';
import { APP_NAMES } from '../installation/apps.ts';

export type LogFormat = 'json' | 'pretty';

/** How log lines are shown; by default for people in a terminal, and unchanged elsewhere. */
export const logFormatSetting = { LOG_FORMAT: z.enum(['json', 'pretty']).optional() };

const WIDTH = Math.max(...APP_NAMES.map(({ length }) => length));

type Style = Parameters<typeof styleText>[0];

const LEVEL_STYLES: Readonly<Record<string, Style>> = {
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
  info: 'green',
};

/** Prints the log lines of an app. In a terminal, formatted ones have colours, unless NO_COLOR is set. */
export function logPrinter(
  app: string,
  format: LogFormat,
  output: NodeJS.WriteStream = process.stdout,
): (line: string) => void {
  const paint = (style: Style, text: string) => styleText(style, text, { stream: output });
  return (line) => output.write(`${format === 'pretty' ? formatLine(app, line, paint) : line}\n`);
}

/** Formats a structured line for people: `12:30:01  info   incident      request  method=GET  status=200`. */
export function formatLine(
  app: string,
  line: string,
  paint: (style: Style, text: string) => string = (_style, text) => text,
): string {
  const name = paint('cyan', app.padEnd(WIDTH));
  const record = parse(line);
  if (record === undefined) return `${name}  ${inOneLine(stripVTControlCharacters(line))}`;
  const { time, level, msg, app: _app, err, ...fields } = record;
  const details = Object.entries({ ...fields, ...(err !== undefined && { error: messageOf(err) }) }).map(
    ([key, value]) => `${paint('dim', `${key}=`)}${textOf(value)}`,
  );
  const [levelName, words] = [String(level), textOf(msg)];
  const style = LEVEL_STYLES[levelName] ?? 'dim';
  return [
    paint('dim', String(time).slice(11, 19)),
    paint(style, levelName.padEnd(5)),
    name,
    levelName === 'info' ? words : paint(style, words),
    ...details,
  ].join('  ');
}

const textOf = (value: unknown) => inOneLine(typeof value === 'string' ? value : JSON.stringify(value));

/** Clients choose parts of what is logged: nothing of it may end the line or command the terminal. */
const inOneLine = (text: string) =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'msg' in value ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

const messageOf = (error: unknown) => (error as { message?: string }).message ?? error;
