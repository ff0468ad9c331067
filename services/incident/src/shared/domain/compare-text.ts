/** UTF-16 begins characters beyond U+FFFF with units below those of U+E000 and what follows. */
const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** The order of the database's collation "C": by code points, which is by bytes. For well-formed texts. */
export function byCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let index = 0;
  while (index < length && a.charCodeAt(index) === b.charCodeAt(index)) index += 1;
  return index === length ? a.length - b.length : rank(a.charCodeAt(index)) - rank(b.charCodeAt(index));
}
