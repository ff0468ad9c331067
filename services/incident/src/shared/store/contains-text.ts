import { type Sql, sql } from './sql.ts';

/**
 * How many bytes of text a request may compare with a searched text. The slowest comparison reads some 65 MB a second, so
 * this takes half a second at worst, and some twenty times less with ordinary texts.
 */
export const MAX_COMPARED_BYTES = 32 * 1_024 * 1_024;

/** How many characters of a searched text are looked for first. */
const START = 8;

/**
 * Whether a folded text contains another, which must not be empty, in time that is linear in the text. `strpos` compares
 * the searched text at every position, up to its whole length, so it only looks for the first characters, which most
 * texts do not have. The whole is matched by a regular expression without any operator (`***=`), which Postgres turns
 * into an automaton: it reads every character once.
 */
export function containsText(text: Sql, searched: string): Sql {
  const start = [...searched].slice(0, START).join('');
  const hasStart = sql`strpos(${text}, ${start}) > 0`;
  return start === searched ? hasStart : sql`(${hasStart} and ${text} ~ ${`***=${searched}`})`;
}
