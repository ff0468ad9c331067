import type { Readable } from 'node:stream';
import type { Tocsin } from '@tocsin/sdk';
import { type Environment, findContext } from './contexts.ts';
import { isLoopback } from './loopback.ts';
import { UsageError } from './operation-parameters.ts';
import { createOutput, type Output, type OutputOptions, type Streams } from './output.ts';

/** Repetitions: a person waits. */
const RETRIES = 3;

/** The process, as commands see it. */
export interface Session extends Streams {
  env: Environment;
  stdin: Readable & { isTTY?: boolean };
  /** Ends with Ctrl-C. */
  signal: AbortSignal;
}

/** Ends the command with an exit code, when everything is printed. */
export class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit code ${code}`);
    this.code = code;
  }
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
  const output = createOutput(session, options);
  return {
    ...{ session, options, output },
    connect: async () => {
      const { url, token } = findContext(session.env, options.context);
      return createClient(url, token, output.note);
    },
  };
}

/**
 * The SDK is loaded only by commands that send something.
 * @param warn receives a line
 */
export async function createClient(url: string, token: string, warn: (text: string) => void): Promise<Tocsin> {
  const { protocol, host } = URL.canParse(url) ? new URL(url) : { protocol: '', host: '' };
  if (!/^https?:$/.test(protocol)) throw new UsageError(`${url} is not an address`);
  if (protocol === 'http:' && !isLoopback(new URL(url)))
    warn(`warning: the token goes to ${host} without encryption: use https`);
  // Anything else cannot stand in a header.
  if (!/^[!-~]{1,256}$/.test(token)) throw new UsageError('the token has characters that no token has');
  const { Tocsin } = await import('@tocsin/sdk');
  return new Tocsin({ baseUrl: url, token, retries: RETRIES });
}
