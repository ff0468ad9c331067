import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../../installation/environment.ts';

export const GROWTH_GUIDE = 'docs/guides/operations-reference.md';

/** A table of the guide's section on growth; one row there may name several. */
export interface DocumentedTable {
  /** Schema and table. */
  name: string;
  grows: string;
  /** What deletes its rows, or `nothing` with the reason. */
  removed: string;
}

/** Reads the table of the section Growth in the guide. */
export function documentedTables(): DocumentedTable[] {
  const text = readFileSync(path.join(ROOT, GROWTH_GUIDE), 'utf8');
  const [, section = ''] = text.split(/^## Growth$/m);
  return section
    .split(/^## /m, 1)[0]!
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, names = '']) => names.startsWith('`'))
    .flatMap(([, names = '', grows = '', , removed = '']) =>
      [...names.matchAll(/`([a-z_]+[.][a-z_]+)`/g)].map(([, name = '']) => ({ name, grows, removed })),
    );
}
