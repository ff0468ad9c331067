/**
 * What a reader does not see, and a terminal or an agent obeys or takes for text: control characters, those that change
 * the direction of text, tags, and others without a shape. Joiners and one variation selector belong to scripts and emoji.
 */
export const HIDDEN =
  /[[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]--[\u200c\u200d\p{Variation_Selector}]]|(?<=\p{Variation_Selector})\p{Variation_Selector}/gv;

/** Replaces hidden characters by `\u` and their code units, which JSON reads as what they were. */
export const visible = (text: string): string =>
  text.replaceAll(HIDDEN, (hidden) =>
    // Not by code points, because JSON has no escape for those beyond 16 bits.
    hidden
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** The same for text of several lines, such as JSON, whose ends of lines are no data. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');

/** Marks hidden characters in all texts of a value, except ends of lines and tabs: `[U+202E]`. */
export function marked(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replaceAll(HIDDEN, (hidden) =>
      '\n\r\t'.includes(hidden)
        ? hidden
        : `[U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
  if (Array.isArray(value)) return value.map(marked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [marked(name), marked(inner)]));
}
