/**
 * Returns a check whether a text contains another one, in time that is linear in the text, whatever both are (the
 * algorithm of Knuth, Morris and Pratt): `includes` takes the product of both lengths for texts that are made for it
 * (ADR 27).
 */
export function containing(searched: string): (text: string) => boolean {
  /** For each length of a match, the length of the longest shorter one that it ends with. */
  const shorter = [0, 0];
  const extend = (matched: number, unit: number): number => {
    let length = matched;
    while (length > 0 && searched.charCodeAt(length) !== unit) length = shorter[length] ?? 0;
    return searched.charCodeAt(length) === unit ? length + 1 : length;
  };
  for (let length = 1; length < searched.length; length += 1) {
    shorter.push(extend(shorter[length] ?? 0, searched.charCodeAt(length)));
  }
  return (text) => {
    let matched = 0;
    for (let index = 0; index < text.length && matched < searched.length; index += 1) {
      matched = extend(matched, text.charCodeAt(index));
    }
    return matched === searched.length;
  };
}
