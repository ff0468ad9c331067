/** A piece is complete when it has this many bytes: large enough to be written at once, small enough to be freed soon. */
const PIECE_BYTES = 65_536;

/** JSON of a value, in UTF-8. */
export type Json<Value> = Buffer & {
  /** Never set; it makes `Value` part of the type. */
  readonly value?: Value;
};

const COMMA = Buffer.from(',');

/**
 * The rows of a list as JSON, each of them serialised once. In the body of a reply it takes the place of the list, so
 * that a large page is neither kept as objects nor serialised in one go.
 */
export class JsonRows<Row> {
  readonly #pieces: Buffer[] = [];
  #open: Buffer[] = [];
  #openBytes = 0;
  #bytes = 0;

  /** The size of all rows as JSON, with the commas between them. */
  get bytes(): number {
    return this.#bytes;
  }

  add(row: Json<Row>): void {
    const added = this.#bytes === 0 ? [row] : [COMMA, row];
    this.#open.push(...added);
    const size = row.length + added.length - 1;
    this.#openBytes += size;
    this.#bytes += size;
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
    this.#pieces.push(Buffer.concat(this.#open, this.#openBytes));
    this.#open = [];
    this.#openBytes = 0;
  }
}

/** Serialises the body of a reply; `Json` and `JsonRows` are pieces of their own. */
export function jsonPieces(body: unknown): readonly Buffer[] {
  if (!hasJson(body)) return [Buffer.from(JSON.stringify(body))];
  const pieces: Buffer[] = [];
  let separator = '{';
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    const key = `${separator}${JSON.stringify(name)}:`;
    if (value instanceof JsonRows) pieces.push(Buffer.from(`${key}[`), ...value.pieces(), Buffer.from(']'));
    else if (value instanceof Buffer) pieces.push(Buffer.from(key), value);
    else pieces.push(Buffer.from(`${key}${JSON.stringify(value)}`));
    separator = ',';
  }
  pieces.push(Buffer.from('}'));
  return pieces;
}

/** The body with the values of its JSON again. */
export const withParsedJson = (body: unknown): unknown =>
  hasJson(body) ? Object.fromEntries(Object.entries(body).map(([name, value]) => [name, parsed(value)])) : body;

function parsed(value: unknown): unknown {
  if (value instanceof JsonRows) return value.parse();
  return value instanceof Buffer ? JSON.parse(value.toString()) : value;
}

const hasJson = (body: unknown): body is Record<string, unknown> =>
  typeof body === 'object' &&
  body !== null &&
  Object.values(body).some((value) => value instanceof JsonRows || value instanceof Buffer);
