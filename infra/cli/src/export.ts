import { messageOf } from './describe-error.ts';
import type { Call } from './session.ts';

/** Prints the lines of an export; the last one is `{"kind":"end"}`. */
export async function exportIncidents({ connect, output, session }: Call, flags: { cursor?: string }): Promise<void> {
  const tocsin = await connect();
  const lines = tocsin.incidents.export({
    ...flags,
    signal: session.signal,
    onInterruption: (error) => output.note(`${messageOf(error)}; lines behind the last position come again`),
  });
  for await (const line of lines) output.line(JSON.stringify(line));
}
