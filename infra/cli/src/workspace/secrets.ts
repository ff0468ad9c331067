import { closeSync, fchmodSync, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { keyOf } from './kinds.ts';
import type { Place } from './present.ts';

/** A line of the file. One without a secret is written before the webhook is created: its answer may be lost. */
interface SecretLine {
  installation_id: string;
  workspace: string;
  webhook: string;
  id?: string;
  /** Null: the create was refused. */
  secret?: string | null;
}

export type Secrets = ReturnType<typeof openSecrets>;

/**
 * The file of the signing secrets of webhooks: a line of JSON for each, which only the user may read. A workspace knows
 * only its own lines. The file is made by the first write.
 */
export function openSecrets(file: string, { installation_id, workspace: { slug: workspace } }: Place) {
  const lines = new Map<string, SecretLine>();
  let isCut = false;
  try {
    const text = readFileSync(file, 'utf8');
    isCut = text !== '' && !text.endsWith('\n');
    for (const line of text.split('\n').map(parseLine))
      if (line?.installation_id === installation_id && line.workspace === workspace)
        lines.set(keyOf('webhooks', line.webhook), line);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return {
    /** `lost`: a create was begun, and its end is not known. */
    stateOf: (webhook: string): 'stored' | 'lost' | undefined => {
      const line = lines.get(keyOf('webhooks', webhook));
      if (line?.secret === null || line === undefined) return undefined;
      return line.secret === undefined ? 'lost' : 'stored';
    },
    /** Appends a line, which is on the disk when the function returns. @throws Error if the file cannot be written */
    add: (webhook: string, more: { id?: string; secret?: string | null } = {}): void => {
      const line = { installation_id, workspace, webhook, ...more };
      const descriptor = openSync(file, 'a', 0o600);
      try {
        if (!fstatSync(descriptor).isFile()) throw new Error(`${file} is not a file`);
        fchmodSync(descriptor, 0o600);
        writeSync(descriptor, `${isCut ? '\n' : ''}${JSON.stringify(line)}\n`);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      isCut = false;
      lines.set(keyOf('webhooks', webhook), line);
    },
  };
}

/** A line that was cut is left out. */
function parseLine(line: string): SecretLine | undefined {
  try {
    return JSON.parse(line) as SecretLine;
  } catch {
    return undefined;
  }
}
