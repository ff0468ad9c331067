import type { ImportedMoments } from '@tocsin/sdk';
import type { Environment } from '../contexts.ts';

export interface Person {
  name: string;
  email?: string | undefined;
}

/** Something that happened in an incident; times are as the source writes them, with a zone. */
export interface Entry {
  /** Unique in the incident. */
  id: string;
  type: string;
  body: string;
  at: string;
  until?: string | undefined;
  author?: Person | undefined;
  isKey?: boolean;
  tags?: readonly string[];
  /** Where it is, or what wrote it, in the source. */
  origin?: string;
}

/** An incident with the names and times of its source. */
export interface Draft {
  id: string;
  url?: string | undefined;
  meetUrl?: string | undefined;
  docUrl?: string | undefined;
  title: string;
  status: string;
  /** Empty: it has none. */
  severity: string;
  createdAt: string;
  statusChangedAt?: string | undefined;
  author?: Person | undefined;
  manager?: Person | undefined;
  responders: readonly Person[];
  team?: string | undefined;
  service?: string | undefined;
  moments: { readonly [Name in keyof ImportedMoments]: string | undefined };
  /** What only a custom field can take, by its name in the source, see `fieldsOf`. */
  fields: Readonly<Record<string, unknown>>;
  entries: readonly Entry[];
}

/**
 * Returns the answer to a question: from the source while a folder is filled, and afterwards from the folder.
 * @param file names the answer: parts with slashes between them
 */
export type Read<Question> = (file: string, question: Question) => Promise<unknown>;

/** A source that answers. */
export interface Connection<Question> {
  /** Returns JSON. @throws an error that a person can read */
  ask(question: Question): Promise<unknown>;
  /** What it is connected to, without what opens it. */
  address: string;
  close(): Promise<void>;
}

/** What is fetched; milliseconds since the epoch. */
export interface Range {
  since: number;
  until: number;
}

/** Where the answers come from, as a rerun must name it again. */
export interface Origin {
  /** Instead of the public address. */
  url?: string | undefined;
  /** Of Dispatch. */
  organization: string;
}

export interface ConnectOptions extends Origin {
  env: Environment;
  signal: AbortSignal;
  /** Tells a person why nothing happens. */
  onWait: (text: string) => void;
}

/** A system that incidents come from. */
export interface Source<Question = unknown> {
  /** The `source` of its incidents in a transfer. */
  name: string;
  title: string;
  /** The variable with what opens the source. */
  variable: string;
  /** Keys of Tocsin by the names of the source. */
  statuses: Readonly<Record<string, string>>;
  severities: Readonly<Record<string, string>>;
  /** @throws UsageError */
  connect(options: ConnectOptions): Promise<Connection<Question>>;
  /**
   * Asks the same questions in the same order if the answers are the same. Each incident is a function that reads the rest
   * of it.
   */
  open(read: Read<Question>, range: Range): AsyncGenerator<() => Promise<Draft>>;
  /** What the answers about an incident say, for `reconcile`: read apart from `open`, so that neither hides a fault of the other. */
  facts: FactReader;
}

/** Text of what should be one; an object is JSON. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);

/** The first row by a property that is a time; of equal ones, the first in the list. */
export const earliestBy = <Row extends Readonly<Record<string, unknown>>>(
  rows: readonly Row[],
  name: string,
): Row | undefined => rows.toSorted((one, other) => textOf(one[name]).localeCompare(textOf(other[name])))[0];

/** The texts that are there, each on a line of its own. */
export const linesOf = (values: readonly unknown[]): string =>
  values
    .map(textOf)
    .filter((text) => text !== '')
    .join('\n');

/** An entry for a text of the incident, if there is one. */
export const textEntry = (type: string, body: unknown, at: string): Entry[] =>
  textOf(body).trim() === '' ? [] : [{ id: type, type, body: textOf(body), at }];

/** Whether a source has no value there. Zero, false and an empty text are values. */
export const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/**
 * Fields of an incident: those that the source always has, and those that people have made there. One of these with the
 * name of another is called by its place, too: `custom_fields.number`.
 */
export function fieldsOf(
  usual: Readonly<Record<string, unknown>>,
  place: string,
  customFields: Iterable<readonly [name: string, value: unknown]>,
): Record<string, unknown> {
  const fields = new Map(Object.entries(usual));
  for (const [name, value] of customFields) {
    let unique = name;
    while (fields.has(unique)) unique = `${place}.${unique}`;
    fields.set(unique, value);
  }
  return Object.fromEntries([...fields].filter(([, value]) => !isAbsent(value)));
}

/** What a source says about an incident, in its own words and values. */
export interface Facts {
  title: unknown;
  status: string;
  /** Empty: it has none. */
  severity: string;
  team?: string | undefined;
  service?: string | undefined;
  /** By the property of the incident that they become. */
  times: Readonly<Record<string, unknown>>;
  addresses: Readonly<Record<string, unknown>>;
  author?: Person | undefined;
  manager?: Person | undefined;
  responders: readonly Person[];
  fields: readonly (readonly [name: string, value: unknown])[];
  entries: readonly FactualEntry[];
}

export interface FactualEntry {
  id: string;
  type?: unknown;
  at: unknown;
  until?: unknown;
  isKey?: boolean;
  texts: readonly unknown[];
  tags?: readonly unknown[];
  author?: Person | undefined;
}

/** Answers of a folder whose names begin in some way. */
export type AnswersOf = (beginning: string) => readonly unknown[];

/** Reads the answers of one source. */
export interface FactReader {
  /** Of an answer in the folder `list`. */
  rowsOf(answer: unknown): readonly { id: string | number }[];
  /** @param options.answers the other answers about the incident; those of all incidents are in `common` */
  factsOf(options: { row: unknown; answers: AnswersOf; common: AnswersOf }): Facts;
}
