/** Every decimal of so many digits is read back from the double next to it, and every double has one of at most 17. */
const ALWAYS_EXACT_DIGITS = 15;
const MAX_DIGITS = 17;
/** Doubles keep their precision from about 10^-307 to 10^308. */
const MAX_EXPONENT = 290;

/**
 * Whether a JSON number keeps its value when it is parsed and written again: `1.50`, `1e2` and `-0` do,
 * `0.289999999999999999` does not.
 */
export function isExactNumber(text: string): boolean {
  const { digits, exponent } = decimalOf(text);
  if (digits.length > MAX_DIGITS) return false;
  const distance = digits === '' ? 0 : Math.abs(exponent) + digits.length;
  if (digits.length <= ALWAYS_EXACT_DIGITS && distance <= MAX_EXPONENT) return true;
  const written = String(Math.abs(Number(text)));
  if (written === text) return true;
  const kept = decimalOf(written);
  return kept.digits === digits && kept.exponent === exponent;
}

interface Decimal {
  /** Without zeros at the beginning and the end; empty for 0. */
  digits: string;
  /** Of ten, for the last digit. */
  exponent: number;
}

/** The absolute value of a number. No patterns: one that looks for zeros at the end takes quadratic time. */
function decimalOf(text: string): Decimal {
  let e = text.indexOf('e');
  if (e === -1) e = text.indexOf('E');
  const mantissaEnd = e === -1 ? text.length : e;
  const point = text.indexOf('.');
  const wholeEnd = point === -1 ? mantissaEnd : point;
  let start = 0;
  while (start < mantissaEnd && !isSignificant(text, start)) start += 1;
  let end = mantissaEnd;
  while (end > start && !isSignificant(text, end - 1)) end -= 1;
  if (start === end) return { digits: '', exponent: 0 };
  const hasPoint = start < point && point < end;
  return {
    digits: hasPoint ? text.slice(start, point) + text.slice(point + 1, end) : text.slice(start, end),
    exponent: (e === -1 ? 0 : Number(text.slice(e + 1))) + wholeEnd - end + (end > wholeEnd ? 1 : 0),
  };
}

const [ONE, NINE] = ['1'.charCodeAt(0), '9'.charCodeAt(0)];

/** Whether it is a digit other than 0. */
function isSignificant(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= ONE && code <= NINE;
}
