import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Tocsin } from '@tocsin/sdk';
import { findContext, writePrivately } from '../contexts.ts';
import { UsageError } from '../operation-parameters.ts';
import type { Call } from '../session.ts';
import { type Fetched, fetchingReader, folderReader, readFetched, writeFetched } from './answers.ts';
import { type Converted, toItems } from './items.ts';
import { createMapper, type Mapper, readMapping, readWorkspace } from './mapping.ts';
import { openProgress } from './progress.ts';
import { compare, type Difference } from './reconcile.ts';
import { type Part, type Refused, send } from './send.ts';
import type { Draft, Source } from './source.ts';
import { iso } from './windows.ts';

export interface FetchFlags {
  url?: string;
  organization?: string;
  since?: string;
}

/** Of a first fetch, if nothing else is said. */
const FIRST_DAY = '2009-01-01';
const ORGANIZATION = 'default';

/** Incidents whose rest is read at the same time. */
const READERS = 4;

/**
 * What to fetch, by the flags and by what was said the first time, which a rerun need not repeat.
 * @throws UsageError for another value: the folder would have answers of both
 */
function rangeOf(folder: string, { name }: Source, flags: FetchFlags): Omit<Fetched, 'address'> & { address?: string } {
  const since = flags.since === undefined ? undefined : Date.parse(flags.since);
  if (Number.isNaN(since)) throw new UsageError(`--since: ${flags.since ?? ''} is no date`);
  const fetched = readFetched(folder, name);
  const { url, organization = ORGANIZATION } = flags;
  if (fetched === undefined) {
    const first = since ?? Date.parse(FIRST_DAY);
    return {
      source: name,
      since: first,
      until: Date.now(),
      ...(url !== undefined && { url }),
      organization,
      isComplete: false,
    };
  }
  const given: Record<string, [given: unknown, kept: unknown]> = {
    since: [since === undefined ? undefined : iso(since), iso(fetched.since)],
    url: [url, fetched.url ?? 'the public address'],
    organization: [flags.organization, fetched.organization],
  };
  for (const [flag, [value, kept]] of Object.entries(given))
    if (value !== undefined && value !== kept)
      throw new UsageError(`--${flag}: ${folder} was begun with ${String(kept)}: leave it out, or name another folder`);
  return fetched;
}

/** Reads all incidents of a source into a folder; a rerun asks for what is missing. */
export async function fetchSource(call: Call, source: Source, folder: string, flags: FetchFlags): Promise<void> {
  const { output, session } = call;
  const kept = rangeOf(folder, source, flags);
  const { env, signal } = session;
  const { url, organization } = kept;
  const connection = await source.connect({ env, url, organization, signal, onWait: output.note });
  const range: Fetched = { ...kept, address: kept.address ?? connection.address };
  if (range.address !== connection.address) {
    await connection.close();
    throw new UsageError(`${folder} has answers of ${range.address}, and not of ${connection.address}`);
  }
  const counts = { asked: 0, kept: 0 };
  let incidents = 0;
  try {
    writeFetched(folder, range);
    const drafts = source.open(fetchingReader(folder, connection, counts), range);
    const read = async () => {
      for await (const draft of drafts) {
        await draft();
        incidents += 1;
        if (incidents % 500 === 0) output.note(`${incidents} incidents`);
      }
    };
    await Promise.all(Array.from({ length: READERS }, read));
    writeFetched(folder, { ...range, isComplete: true });
  } finally {
    await connection.close();
  }
  output.reply({ incidents, answers: counts.asked + counts.kept, fetched: counts.asked }, undefined);
}

async function* draftsOf(source: Source, folder: string): AsyncGenerator<Draft> {
  const fetched = readFetched(folder, source.name);
  if (fetched?.isComplete !== true) throw new UsageError(`${folder} is not complete: run fetch`);
  for await (const draft of source.open(folderReader(folder), fetched)) yield await draft();
}

export interface MappingFlags {
  mapping?: string;
}

async function prepare(call: Call, source: Source, { folder, mapping }: MappingFlags & { folder: string }) {
  const decided = await readMapping(call.session, mapping);
  const { signal } = call.session;
  const tocsin = await call.connect();
  const mapper = createMapper(source, decided, await readWorkspace(tocsin, signal));
  async function* converted(): AsyncGenerator<Converted> {
    for await (const draft of draftsOf(source, folder)) yield toItems(draft, { source, mapper });
  }
  return { tocsin, decided, mapper, signal, converted: converted() };
}

/** Says what an apply would do. @throws UsageError if something is lost that the mapping does not name */
export async function plan(
  call: Call,
  source: Source,
  folder: string,
  { propose, ...flags }: MappingFlags & { propose?: string },
): Promise<void> {
  const { tocsin, decided, mapper, signal, converted } = await prepare(call, source, { folder, ...flags });
  const { outcomes, refused } = await send(tocsin, converted, { validateOnly: true, signal });
  const findings = mapper.findings().toSorted((one, other) => Number(one.decided) - Number(other.decided));
  const { output } = call;
  if (output.isTable) {
    output.rows(findings as unknown as Record<string, unknown>[], [
      'kind',
      'name',
      'becomes',
      'decided',
      'count',
      'example',
    ]);
    output.end();
    showRefused(call, refused);
    output.reply(outcomes, undefined);
  } else output.reply({ source: source.name, outcomes, findings, refused }, undefined);
  if (propose !== undefined) writePrivately(path.dirname(propose), path.basename(propose), proposalOf(mapper, decided));
  const open = findings.filter((finding) => !finding.decided).length;
  if (open > 0 || refused.length > 0)
    throw new UsageError(`${open} names are lost or have no counterpart, and ${refused.length} items are refused`);
}

/** A mapping that leaves out what is open, to be changed by a person. */
function proposalOf(mapper: Mapper, decided: object) {
  const open = mapper.findings().filter((finding) => !finding.decided);
  const of = (kind: string) =>
    Object.fromEntries(open.filter((one) => one.kind === kind).map(({ name }) => [name, null]));
  const lists = { statuses: of('status'), severities: of('severity'), teams: of('team'), fields: of('field') };
  const proposed = Object.entries({ ...lists, people: of('person'), others: of('other') });
  return Object.fromEntries(
    proposed.map(([name, list]) => [name, { ...(decided as Record<string, object>)[name], ...list }]),
  );
}

function showRefused({ output }: Call, refused: readonly Refused[]): void {
  for (const { id, field, message } of refused) output.note(`refused ${id}: ${field}: ${message}`);
}

/** Moves the incidents of a folder in. One that broke off goes on where it was. @throws Error if some are refused */
export async function apply(call: Call, source: Source, folder: string, flags: MappingFlags): Promise<void> {
  const { tocsin, decided, signal, converted } = await prepare(call, source, { folder, ...flags });
  const { installation_id: installation, workspace } = await tocsin.me.get({ signal });
  // A copy of an installation has its ID, and another address.
  const { url } = findContext(call.session.env, call.options.context);
  const place = [installation, new URL(url).host, workspace.id, readFetched(folder, source.name), decided];
  const run = createHash('sha256').update(JSON.stringify(place)).digest('hex');
  const progress = openProgress(folder, run);
  const done = (await isThere(tocsin, progress.parts, { source, signal })) ? progress.parts : [];
  if (done.length > 0) call.output.note(`goes on behind ${done.at(-1)?.completed ?? 0} incidents`);
  else progress.begin();
  const { outcomes, refused } = await send(tocsin, converted, {
    validateOnly: false,
    signal,
    done,
    onPart: progress.add,
  });
  progress.end();
  if (call.output.isTable) showRefused(call, refused);
  call.output.reply(call.output.isTable ? outcomes : { ...outcomes, items: refused }, undefined);
  if (refused.length > 0) throw new Error(`${refused.length} items are refused`);
}

/** Whether what was sent last is still there: the workspace may have been restored to an earlier moment. */
async function isThere(
  tocsin: Tocsin,
  parts: readonly Part[],
  { source, signal }: { source: Source; signal: AbortSignal },
): Promise<boolean> {
  const [last] = parts.flatMap(({ outcomes }) => outcomes).findLast(([, outcome]) => outcome !== 'refused') ?? [];
  if (last === undefined) return parts.length > 0;
  const query = { external_id: `${source.name}:${last}`, limit: 1 };
  const lists = await Promise.all([
    tocsin.incidents.list(query, { signal }).page(),
    tocsin.incidents.listArchived(query, { signal }).page(),
  ]);
  return lists.some(({ incidents }) => incidents.length > 0);
}

/** Compares the folder with what Tocsin has. @throws Error if they differ */
export async function reconcile(
  call: Call,
  source: Source,
  folder: string,
  { sample, ...flags }: MappingFlags & { sample: string },
): Promise<void> {
  const { tocsin, signal, mapper } = await prepare(call, source, { folder, ...flags });
  if (readFetched(folder, source.name)?.isComplete !== true)
    throw new UsageError(`${folder} is not complete: run fetch`);
  const size = Number(sample);
  if (!Number.isInteger(size) || size < 1 || size > 10_000) throw new UsageError('--sample must be 1 to 10000');
  const { differences, ...counts } = await compare(tocsin, folder, { source, mapper, size, signal });
  const { output } = call;
  if (output.isTable) {
    output.rows(differences as unknown as (Difference & Record<string, unknown>)[], [
      'id',
      'field',
      'expected',
      'actual',
    ]);
    output.end();
    output.reply(counts, undefined);
  } else output.reply({ ...counts, differences }, undefined);
  if (differences.length > 0) throw new Error(`${differences.length} differences`);
}
