import type { Writable } from 'node:stream';
import { ownProperty } from '@tocsin/runtime';
import pg from 'pg';
import { serialize } from 'pg-protocol';

/** What a pipeline needs of the driver's connection. */
interface Connection {
  readonly stream: Writable;
  /** The texts of the prepared statements, by name. */
  parsedStatements: Record<string, string | undefined>;
  on(event: 'readyForQuery' | 'end', listener: () => void): this;
  off(event: 'readyForQuery' | 'end', listener: () => void): this;
}

/** A name that a statement gives, which no client chooses. */
type ColumnName = string & { readonly of: 'column' };

interface Field {
  name: ColumnName;
  dataTypeID: typeof pg.types.builtins.TEXT;
}

/** Reads the rows of one prepared statement. */
interface RowReader {
  names: readonly ColumnName[];
  parsers: readonly ((text: string) => unknown)[];
  /** A row of nulls: a copy of it is faster than adding one property after the other. */
  empty: Record<string, unknown>;
}

const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } }).utils;

/** The prepared statements of each connection whose columns are known. */
const readers = new WeakMap<Connection, Map<string, RowReader>>();

/**
 * The names of each connection that were sent to be prepared, and that an earlier failure has kept from it. The server has
 * no such statement, but a pooler may remember it, and would end a connection that prepares it again.
 */
const unprepared = new WeakMap<Connection, Set<string>>();

/** After the session has dropped its prepared statements. */
export function forgetStatements(connection: Pick<Connection, 'parsedStatements'>): void {
  connection.parsedStatements = {};
  readers.delete(connection as Connection);
}

/** A statement with its values (`$1` and so on); `Row` is the type of its rows. */
export interface Statement<Row = unknown> {
  /** Makes it a prepared statement, which each connection parses once and keeps. Without one, it is parsed each time. */
  readonly name?: string;
  readonly text: string;
  /** Default: none. */
  readonly values?: readonly unknown[];
  /** The name has several texts, which code composes. The first of them are prepared, with numbers in their names. */
  readonly isComposed?: boolean;
  /**
   * Whether it is planned for its values each time, because one plan for all of them would be wrong for rare ones. So are
   * the statements after it in its transaction.
   */
  readonly plannedForValues?: boolean;
  /**
   * Whether it only reads, and its caller repeats it if it fails. Its connection need not prove that it works before
   * (ADR 24): the statement proves as much, and a system at rest executes half as many.
   */
  readonly isPoll?: boolean;
  /** Never set; it makes `Row` part of the type. */
  readonly row?: Row;
}

/** Statements by the types of their rows. */
export type Statements<Rows extends readonly unknown[]> = readonly [
  ...{ [Index in keyof Rows]: Statement<Rows[Index]> },
];

/** The rows of each statement. */
export type RowsOfEach<Rows extends readonly unknown[]> = { [Index in keyof Rows]: Rows[Index][] };

/** What a statement did. */
export interface StatementResult {
  rows: unknown[];
  /** The first word of the server's command tag: `SELECT`, `INSERT`, `COMMIT`. */
  command: string;
  /** Rows that were read or written; null if the command has no such number. */
  rowCount: number | null;
}

/**
 * Statements that are sent at once, as an object with the methods that `pg.Client` calls. If one fails, the server executes
 * none of those after it. Unlike the driver's own query, it has the server describe the columns of a prepared statement
 * only once: the server refuses a statement whose columns have changed.
 */
export class Pipeline {
  /**
   * What each statement did. Rejects with the driver's or the server's error; with the server's when the session is ready
   * for the next statement or has ended, so that the state of its transaction is known.
   */
  readonly results: Promise<StatementResult[]>;
  readonly statements: readonly Statement[];
  readonly #types: pg.CustomTypesConfig;
  readonly #describesAll: boolean;
  readonly #resolve: (results: StatementResult[]) => void;
  readonly #reject: (error: unknown) => void;
  readonly #received: StatementResult[];
  readonly #readers: (RowReader | undefined)[];
  /** The index of the statement whose results arrive. */
  #current = 0;
  #failure: unknown;
  #connection: Connection | undefined;

  /**
   * @param statements at least one
   * @param options.describesAll whether a statement may have other columns each time: another session may have prepared it
   */
  constructor(statements: readonly Statement[], types: pg.CustomTypesConfig, { describesAll = false } = {}) {
    this.statements = statements;
    this.#types = types;
    this.#describesAll = describesAll;
    this.#received = statements.map(() => ({ rows: [], command: '', rowCount: null }));
    this.#readers = statements.map(() => undefined);
    const { promise, resolve, reject } = Promise.withResolvers<StatementResult[]>();
    this.results = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get #statement(): Statement {
    return (this.statements[this.#current] ?? this.statements.at(-1)) as Statement;
  }

  /** What the driver records as parsed when the server has parsed a statement: always the current one. */
  get name(): string {
    return this.#statement.name ?? '';
  }

  get text(): string {
    return this.#statement.text;
  }

  /** Sends the statements. Returns an error instead of throwing it, as the driver expects. */
  submit(connection: Connection): Error | null {
    const parsed = new Map<string, string>();
    const parsedText = (name: string) => parsed.get(name) ?? ownProperty(connection.parsedStatements, name);
    for (const { name = '', text } of this.statements) {
      if (name === '') continue;
      const preparedText = parsedText(name);
      if (preparedText !== undefined && preparedText !== text)
        return new Error(`the prepared statement ${name} has another text`);
      parsed.set(name, text);
    }
    parsed.clear();
    this.#connection = connection;
    const values = this.#sendableValues();
    const messages: Buffer[] = [];
    for (const [index, { name = '', text }] of values === undefined ? [] : this.statements.entries()) {
      const isParsed = name !== '' && parsedText(name) !== undefined;
      if (!isParsed && unprepared.get(connection)?.delete(name) === true)
        messages.push(serialize.close({ type: 'S', name }));
      if (!isParsed) messages.push(serialize.parse({ name, text }));
      parsed.set(name, text);
      if (isParsed && !this.#describesAll) this.#readers[index] = readers.get(connection)?.get(name);
      messages.push(serialize.bind({ statement: name, values: values?.[index] ?? [] }));
      if (this.#readers[index] === undefined) messages.push(serialize.describe({ type: 'P', name: '' }));
      messages.push(serialize.execute());
    }
    messages.push(serialize.sync());
    // One buffer: each further one takes time of the socket.
    if (connection.stream.writable) connection.stream.write(Buffer.concat(messages));
    return null;
  }

  /** The values of each statement as they are sent; undefined if one cannot be sent: then nothing is. */
  #sendableValues(): unknown[][] | undefined {
    try {
      return this.statements.map(({ values = [] }) => values.map((value) => prepareValue(value)));
    } catch (error) {
      this.#failure = error;
      return undefined;
    }
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    const reader = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(
        ({ dataTypeID }) => this.#types.getTypeParser(dataTypeID, 'text') as (text: string) => unknown,
      ),
      empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
    };
    this.#readers[this.#current] = reader;
    if (this.name === '' || this.#connection === undefined) return;
    const readersByName = readers.get(this.#connection) ?? new Map<string, RowReader>();
    readers.set(this.#connection, readersByName.set(this.name, reader));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const reader = this.#readers[this.#current];
    if (reader === undefined || this.#failure !== undefined) return;
    const { names, parsers, empty } = reader;
    const row = { ...empty };
    try {
      for (let index = 0; index < names.length; index += 1) {
        const text = fields[index];
        if (typeof text === 'string') row[names[index] as ColumnName] = parsers[index]?.(text);
      }
    } catch (error) {
      this.#failure = error;
    }
    this.#received[this.#current]?.rows.push(row);
  }

  handleError(error: unknown, connection: Connection): void {
    this.#failure ??= error;
    if (!(error instanceof pg.DatabaseError)) return this.#reject(this.#failure);
    this.#noteUnprepared(connection);
    const reject = () => {
      connection.off('readyForQuery', reject).off('end', reject);
      this.#reject(this.#failure);
    };
    connection.on('readyForQuery', reject).on('end', reject);
  }

  #noteUnprepared(connection: Connection): void {
    const names = unprepared.get(connection) ?? new Set();
    unprepared.set(connection, names);
    for (const { name = '' } of this.statements.slice(this.#current)) {
      if (name !== '' && ownProperty(connection.parsedStatements, name) === undefined) names.add(name);
    }
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#resolve(this.#received);
    else this.#reject(this.#failure);
  }

  /** @param message.text the command tag: `INSERT 0 1`, `UPDATE 2`, `CREATE TABLE` */
  handleCommandComplete({ text }: { text: string }): void {
    // A statement that returns nothing has no description.
    if (this.#readers[this.#current] === undefined) this.handleRowDescription({ fields: [] });
    const result = this.#received[this.#current] as StatementResult;
    const words = text.split(' ');
    const count = Number(words.at(-1));
    result.command = words[0] as string;
    result.rowCount = Number.isNaN(count) ? null : count;
    this.#current += 1;
  }

  handleEmptyQuery(): void {
    this.#current += 1;
  }
}
