import { APP_NAMES } from '../apps.ts';

const WIDTH = Math.max(...APP_NAMES.map(({ length }) => length));

/** Prints the log lines of several apps: formatted in a terminal, unchanged elsewhere. */
export function logPrinter(app: string, output: NodeJS.WriteStream = process.stdout): (line: string) => void {
  return (line) => output.write(`${output.isTTY ? formatLine(app, line) : line}\n`);
}

/** Formats a structured line for people: `12:30:01 info  incident  request method=GET status=200`. */
export function formatLine(app: string, line: string): string {
  const name = app.padEnd(WIDTH);
  const record = parse(line);
  if (record === undefined) return `${name}  ${line}`;
  const { time, level, msg, app: _app, err, ...rest } = record;
  const details = Object.entries({ ...rest, ...(err !== undefined && { error: messageOf(err) }) }).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const words = [String(time).slice(11, 19), String(level).padEnd(5), name, String(msg), ...details];
  return words.join('  ');
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'msg' in value ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

const messageOf = (error: unknown) => (error as { message?: string }).message ?? error;
