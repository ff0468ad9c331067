import { hash } from 'node:crypto';
import type { TableEnd } from './format.ts';

const NEWLINE = 10;
/** The hash of a row is added up as five numbers of 48 bits: their sums stay exact. */
const PARTS = 5;
const PART_BYTES = 6;
const MODULUS = 2 ** (8 * PART_BYTES);

/**
 * Counts the rows of COPY's text format and sums up their SHA-256. The sum does not depend on the order of the rows, in
 * which two databases with the same data may differ.
 */
export class RowDigest {
  #rows = 0;
  readonly #sums = new Array<number>(PARTS).fill(0);
  /** The beginning of a row whose end has not arrived. */
  #pending: Buffer[] = [];

  update(chunk: Buffer): void {
    let start = 0;
    // In the text format a newline ends a row; one in a value is escaped.
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const last = chunk.subarray(start, end);
      this.#add(this.#pending.length === 0 ? last : Buffer.concat([...this.#pending, last]));
      this.#pending = [];
      start = end + 1;
    }
    // A copy: the caller may reuse the memory of the chunk.
    if (start < chunk.length) this.#pending.push(Buffer.from(chunk.subarray(start)));
  }

  /** Whether the last row has no end yet. */
  get isInRow(): boolean {
    return this.#pending.length > 0;
  }

  /** @throws Error if the last row has no end */
  result(): TableEnd {
    if (this.isInRow) throw new Error('the rows of a table end in the middle of a row');
    const digest = this.#sums.map((sum) => sum.toString(16).padStart(2 * PART_BYTES, '0')).join('');
    return { rows: this.#rows, digest };
  }

  #add(row: Buffer): void {
    const digest = hash('sha256', row, 'buffer');
    for (let part = 0; part < PARTS; part += 1) {
      this.#sums[part] = ((this.#sums[part] ?? 0) + digest.readUIntBE(part * PART_BYTES, PART_BYTES)) % MODULUS;
    }
    this.#rows += 1;
  }
}
