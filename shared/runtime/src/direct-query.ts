import type { Writable } from 'node:stream';
import pg from 'pg';

/** What a query needs of the driver's connection. */
interface Connection {
  readonly stream: Writable;
  /** The texts of the prepared statements, by name. */
  readonly parsedStatements: Record<string, string | undefined>;
  parse(statement: { name: string; text: string }): void;
  bind(portal: { statement: string; values: unknown[]; valueMapper: (value: unknown) => unknown }): void;
  describe(object: { type: 'P'; name: string }): void;
  execute(portal: object): void;
  sync(): void;
}

interface Field {
  name: string;
  dataTypeID: typeof pg.types.builtins.TEXT;
}

/** Reads the rows of one statement, whose columns never change. */
interface RowReader {
  names: readonly string[];
  parsers: readonly ((text: string) => unknown)[];
  /** A row of nulls: a copy of it is faster than adding one property after the other. */
  empty: Record<string, unknown>;
}

const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;

/** The prepared statements of each connection whose columns are known. */
const readers = new WeakMap<Connection, Map<string, RowReader>>();

/**
 * One statement as the driver executes it, as an object with the methods that `pg.Client` calls. Unlike the driver's own
 * query, it has the server describe the columns of a prepared statement only once: the server never changes them.
 */
export class DirectQuery<Row> {
  /** Empty for a statement that is executed once. */
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  /** The rows. Rejects with the driver's or the server's error. */
  readonly rows: Promise<Row[]>;
  readonly #types: pg.CustomTypesConfig;
  readonly #resolve: (rows: Row[]) => void;
  readonly #reject: (error: unknown) => void;
  readonly #received: Row[] = [];
  #reader: RowReader | undefined;
  #failure: unknown;
  #connection: Connection | undefined;

  constructor(statement: { name: string; text: string; values: unknown[]; types: pg.CustomTypesConfig }) {
    this.name = statement.name;
    this.text = statement.text;
    this.values = statement.values;
    this.#types = statement.types;
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>();
    this.rows = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Sends the statement. Returns an error instead of throwing it, as the driver expects. */
  submit(connection: Connection): Error | null {
    const { name, text } = this;
    const isParsed = name !== '' && connection.parsedStatements[name] !== undefined;
    if (isParsed && connection.parsedStatements[name] !== text) {
      return new Error(`the prepared statement ${name} has another text`);
    }
    this.#connection = connection;
    if (isParsed) this.#reader = readers.get(connection)?.get(name);
    connection.stream.cork();
    try {
      if (!isParsed) connection.parse({ name, text });
      connection.bind({ statement: name, values: this.values, valueMapper: prepareValue });
      if (this.#reader === undefined) connection.describe({ type: 'P', name: '' });
      connection.execute({});
    } catch (error) {
      // A value that cannot be sent.
      this.#failure ??= error;
    } finally {
      connection.sync();
      connection.stream.uncork();
    }
    return null;
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#reader = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(
        ({ dataTypeID }) => this.#types.getTypeParser(dataTypeID, 'text') as (text: string) => unknown,
      ),
      empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
    };
    if (this.name === '' || this.#connection === undefined) return;
    const known = readers.get(this.#connection) ?? new Map<string, RowReader>();
    readers.set(this.#connection, known.set(this.name, this.#reader));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    if (this.#reader === undefined || this.#failure !== undefined) return;
    const { names, parsers, empty } = this.#reader;
    const row = { ...empty };
    try {
      for (let index = 0; index < names.length; index += 1) {
        const text = fields[index];
        if (typeof text === 'string') row[names[index] as string] = parsers[index]?.(text);
      }
    } catch (error) {
      this.#failure = error;
    }
    this.#received.push(row as Row);
  }

  handleError(error: unknown): void {
    this.#reject(this.#failure ?? error);
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#resolve(this.#received);
    else this.#reject(this.#failure);
  }

  handleCommandComplete(): void {
    // A statement that returns nothing has no description.
    if (this.#reader === undefined) this.handleRowDescription({ fields: [] });
  }

  handleEmptyQuery(): void {
    // A statement is never empty.
  }
}
