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
  /** What only a custom field can take, by its name in the source; empty values are absent. */
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
  close(): Promise<void>;
}

/** What is fetched; milliseconds since the epoch. */
export interface Range {
  since: number;
  until: number;
}

export interface ConnectOptions {
  env: Environment;
  /** Instead of the public address. */
  url: string | undefined;
  /** Of Dispatch. */
  organization: string;
  signal: AbortSignal;
  /** Tells a person why nothing happens. */
  onWait: (text: string) => void;
}

/** A system that incidents come from. */
export interface Source<Question = unknown> {
  /** The `source` of imported incidents. */
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
}

/** Text of what should be one. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** The texts that are there, each on a line of its own. */
export const linesOf = (values: readonly unknown[]): string =>
  values
    .map(textOf)
    .filter((text) => text !== '')
    .join('\n');

/** An entry for a text of the incident, if there is one. */
export const textEntry = (type: string, body: unknown, at: string): Entry[] =>
  textOf(body).trim() === '' ? [] : [{ id: type, type, body: textOf(body), at }];

/** Drops what is empty. */
export const present = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) =>
        value !== undefined &&
        value !== null &&
        value !== '' &&
        value !== 0 &&
        !(Array.isArray(value) && value.length === 0),
    ),
  );
