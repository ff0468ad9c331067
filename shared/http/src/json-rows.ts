/** A piece is complete when it has this many bytes: large enough to be written at once, small enough to be freed soon. */
const PIECE_BYTES = 65_536;

/**
 * The rows of a list as JSON, each of them serialised once. In the body of a reply it takes the place of the list, so
 * that a large page is neither kept as objects nor serialised in one go.
 */
export class JsonRows<Row> {
  readonly #pieces: Buffer[] = [];
  #open: string[] = [];
  #openBytes = 0;
  #bytes = 0;

  /** The size of all rows as JSON, with the commas between them. */
  get bytes(): number {
    return this.#bytes;
  }

  add(text: string): void {
    const size = Buffer.byteLength(text);
    const isFirst = this.#bytes === 0;
    this.#open.push(isFirst ? text : `,${text}`);
    this.#openBytes += size;
    this.#bytes += isFirst ? size : size + 1;
    if (this.#openBytes >= PIECE_BYTES) this.#closePiece();
  }

  /** The elements of a JSON array, without its brackets. */
  pieces(): readonly Buffer[] {
    if (this.#open.length > 0) this.#closePiece();
    return this.#pieces;
  }

  /** Parses the rows again, to compare them with their contract. */
  parse(): Row[] {
    return JSON.parse(`[${Buffer.concat(this.pieces()).toString()}]`) as Row[];
  }

  #closePiece(): void {
    this.#pieces.push(Buffer.from(this.#open.join('')));
    this.#open = [];
    this.#openBytes = 0;
  }
}

/**
 * Serialises the body of a reply. Only lists that are `JsonRows` come in several pieces; the rest is small enough for
 * one.
 */
export function jsonPieces(body: unknown): readonly Buffer[] {
  if (!hasRows(body)) return [Buffer.from(JSON.stringify(body))];
  const pieces: Buffer[] = [];
  let separator = '{';
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    const key = `${separator}${JSON.stringify(name)}:`;
    if (value instanceof JsonRows) pieces.push(Buffer.from(`${key}[`), ...value.pieces(), Buffer.from(']'));
    else pieces.push(Buffer.from(`${key}${JSON.stringify(value)}`));
    separator = ',';
  }
  pieces.push(Buffer.from('}'));
  return pieces;
}

/** The body with its lists as arrays again. */
export const withParsedRows = (body: unknown): unknown =>
  hasRows(body)
    ? Object.fromEntries(
        Object.entries(body).map(([name, value]) => [name, value instanceof JsonRows ? value.parse() : value]),
      )
    : body;

const hasRows = (body: unknown): body is Record<string, unknown> =>
  typeof body === 'object' && body !== null && Object.values(body).some((value) => value instanceof JsonRows);
