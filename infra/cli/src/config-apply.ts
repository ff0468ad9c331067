import type { NewConfiguration } from '@tocsin/sdk';
import { parseJson } from './operation-parameters.ts';
import { readInput } from './read-input.ts';
import type { Call } from './session.ts';

export interface ApplyFlags {
  dryRun?: boolean;
}

/** Replaces the configuration by a document: based on its revision, or on the current one if it has none. */
export async function apply(
  { connect, output, session }: Call,
  file: string,
  { dryRun = false }: ApplyFlags,
): Promise<void> {
  const document = parseJson(file, await readInput(session, file)) as {
    configuration?: NewConfiguration;
  } & NewConfiguration;
  const body = document.configuration ?? document;
  const tocsin = await connect();
  const { signal } = session;
  const ifRevision = body.revision ?? (await tocsin.configuration.get({ signal })).configuration.revision;
  output.reply(await tocsin.configuration.replace(body, { ifRevision, validateOnly: dryRun, signal }), 'configuration');
  if (dryRun) output.note('nothing was changed: this is what the document would give');
}
