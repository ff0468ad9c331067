import { randomBytes } from 'node:crypto';
import type { Statement } from './pipeline.ts';

/**
 * The prepared statements of a pool whose pooler prepares them, in each of its sessions and for all clients with the same
 * text. One whose columns a migration has changed stays refused in a session that has prepared it before, and nobody can
 * reach all of these sessions: so the pool continues with other texts.
 */
export interface SharedStatements {
  /** The statements, with the texts that are prepared now. */
  current(statements: readonly Statement[]): readonly Statement[];
  renew(): void;
}

export function sharedStatements(): SharedStatements {
  let mark = '';
  return {
    current: (statements) =>
      mark === ''
        ? statements
        : statements.map((each) =>
            each.name === undefined ? each : { ...each, name: each.name + mark, text: each.text + mark },
          ),
    renew: () => (mark = ` -- ${randomBytes(3).toString('hex')}`),
  };
}
