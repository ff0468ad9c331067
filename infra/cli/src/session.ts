import { readFileSync } from 'node:fs';
import type { Tocsin } from '@tocsin/sdk';
import { type Environment, findContext } from './contexts.ts';
import { UsageError } from './operation-parameters.ts';
import { createOutput, type Output, type OutputOptions, type Streams } from './output.ts';

/** Repetitions: a person waits. */
const RETRIES = 3;

/** The process, as commands see it. */
export interface Session extends Streams {
  env: Environment;
  stdin: { isTTY?: boolean };
  /** Ends with Ctrl-C. */
  signal: AbortSignal;
}

/** Options of every command. */
export interface GlobalOptions extends OutputOptions {
  context?: string;
}

/** What a command needs. */
export interface Call {
  session: Session;
  options: GlobalOptions;
  output: Output;
  /** A client of the workspace. @throws UsageError */
  connect(): Promise<Tocsin>;
}

export function createCall(session: Session, options: GlobalOptions): Call {
  return {
    ...{ session, options, output: createOutput(session, options) },
    connect: async () => {
      const { url, token } = findContext(session.env, options.context);
      return createClient(url, token);
    },
  };
}

/** The SDK is loaded only by commands that send something. */
export async function createClient(url: string, token: string): Promise<Tocsin> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw new UsageError(`${url} is not an address`);
  // Anything else cannot stand in a header.
  if (!/^[!-~]{1,256}$/.test(token)) throw new UsageError('the token has characters that no token has');
  const { Tocsin } = await import('@tocsin/sdk');
  return new Tocsin({ baseUrl: url, token, retries: RETRIES });
}

/** Text of a flag: `@file` and `-` (stdin) are read. @throws UsageError */
export function readText(given: string): string {
  if (given !== '-' && !given.startsWith('@')) return given;
  try {
    return readFileSync(given === '-' ? 0 : given.slice(1), 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${given}: ${(error as Error).message}`);
  }
}
