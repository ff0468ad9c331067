import { readContexts, writeContexts } from './contexts.ts';
import { UsageError } from './operation-parameters.ts';
import { readInput } from './read-input.ts';
import { type Call, createClient, type Session } from './session.ts';

export interface LoginFlags {
  url: string;
  /** Of the context. */
  name?: string;
}

/** Stores a context after the server has accepted its token. */
export async function login({ session, output }: Call, { url, name }: LoginFlags): Promise<void> {
  const token = await readToken(session);
  const { origin } = new URL(URL.canParse(url) ? url : 'http://invalid');
  const { user, workspace } = await (await createClient(url, token, output.note)).me.get({ signal: session.signal });
  const stored = readContexts(session.env);
  const context = name ?? workspace.slug;
  writeContexts(session.env, {
    current: context,
    contexts: { ...stored.contexts, [context]: { url: url.replace(/\/$/, ''), token } },
  });
  output.note(`logged in at ${origin} as ${user.email}; the context is ${context}`);
}

/** From stdin; a terminal asks for it, and does not show it. */
async function readToken(session: Session): Promise<string> {
  const given = session.stdin.isTTY === true ? await askSecretly('Token: ') : await readInput(session, '-');
  if (given.trim() === '') throw new UsageError('stdin has no token');
  return given.trim();
}

async function askSecretly(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const { Writable } = await import('node:stream');
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

export function logout({ session, output, options }: Call, given: string | undefined): void {
  const { current, contexts: all } = readContexts(session.env);
  const name = given ?? options.context ?? current;
  if (name === undefined || !Object.hasOwn(all, name)) throw new UsageError(`there is no context ${name ?? ''}`);
  const { [name]: _, ...others } = all;
  writeContexts(session.env, { current: name === current ? Object.keys(others)[0] : current, contexts: others });
  output.note(`removed the context ${name}; its API key is still valid`);
}

export function contexts({ session, output }: Call, name: string | undefined): void {
  const stored = readContexts(session.env);
  if (name !== undefined) {
    if (!Object.hasOwn(stored.contexts, name)) throw new UsageError(`there is no context ${name}`);
    writeContexts(session.env, { ...stored, current: name });
    output.note(`the context is ${name}`);
    return;
  }
  const rows = Object.entries(stored.contexts).map(([key, { url }]) => ({ key, url, current: key === stored.current }));
  output.rows(rows, ['key', 'url', 'current']);
  output.end();
}
