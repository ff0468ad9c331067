import { parseArgs } from 'node:util';

export interface Size {
  incidents: number;
  /** The first has a fifth of all incidents; the others share the rest. */
  workspaces: number;
}

/** @throws an error with a one-line message for an unknown flag or a value that is not a whole number */
export function readSize(args: readonly string[]): Size {
  const { values } = parseArgs({
    args: [...args],
    options: {
      incidents: { type: 'string', default: '1000000' },
      workspaces: { type: 'string', default: '20' },
    },
  });
  return { incidents: count('incidents', values.incidents, 1), workspaces: count('workspaces', values.workspaces, 2) };
}

function count(flag: string, text: string, least: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < least) {
    throw new Error(`--${flag} must be a whole number of at least ${least}`);
  }
  return number;
}
