/** How many characters of a searched text are looked for first. */
const START = 8;

/**
 * Whether a text contains another one, which must not be empty, in time that is linear in the text (ADR 27): `strpos`
 * compares at every position, so it only looks for the first characters; an expression without operators matches the whole.
 */
export function containsText(column: string, searched: string): { condition: string; values: string[] } {
  const start = [...searched].slice(0, START).join('');
  const hasStart = `strpos(${column}, ?) > 0`;
  return start === searched
    ? { condition: hasStart, values: [start] }
    : { condition: `(${hasStart} and ${column} ~ ?)`, values: [start, `***=${searched}`] };
}
