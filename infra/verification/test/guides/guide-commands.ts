import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../../../installation/environment.ts';

/** The commands of the guide that make the users of other systems, without `rabbitmqctl`. */
export async function guideCommands(): Promise<string[][]> {
  const guide = await readFile(path.join(ROOT, 'docs/guides/events.md'), 'utf8');
  return [...guide.matchAll(/^rabbitmqctl (.+)$/gm)].map(([, command = '']) =>
    [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([word, quoted]) => quoted ?? word),
  );
}
