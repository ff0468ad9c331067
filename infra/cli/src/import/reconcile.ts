import { isDeepStrictEqual } from 'node:util';
import type { ImportedIncident, ImportedPerson, ImportedTimelineEvent, Tocsin } from '@tocsin/sdk';
import type { Converted } from './items.ts';
import type { Source } from './source.ts';

export interface Difference {
  id: string;
  field: string;
  expected: unknown;
  found: unknown;
}

export interface Comparison {
  /** Of the source, of Tocsin, and those that were compared in full. */
  expected: number;
  found: number;
  compared: number;
  differences: Difference[];
}

/** Differences that are told. */
const MAX_DIFFERENCES = 1_000;

/**
 * Compares incidents with the export: whether each is there, and of a sample, which includes the longest one, every
 * property and every event of the timeline.
 */
export async function compare(
  tocsin: Tocsin,
  incidents: AsyncIterable<Converted>,
  { source, size, signal }: { source: Source; size: number; signal: AbortSignal },
): Promise<Comparison> {
  const missing = new Set<string>();
  const sample = new Map<string, ImportedIncident>();
  let longest: ImportedIncident | undefined;
  let step = 1;
  for await (const converted of incidents) {
    missing.add(converted.id);
    if ('message' in converted) continue;
    const whole = joined(converted.items);
    if (lengthOf(whole) > lengthOf(longest)) longest = whole;
    if (missing.size % step !== 0) continue;
    sample.set(converted.id, whole);
    if (sample.size <= size) continue;
    // Every second one is left, and is taken from now on.
    step *= 2;
    for (const [index, id] of [...sample.keys()].entries()) if (index % 2 === 0) sample.delete(id);
  }
  if (longest !== undefined) sample.set(longest.external.id, longest);

  const result: Comparison = { expected: missing.size, found: 0, compared: 0, differences: [] };
  const { differences } = result;
  const add = (difference: Difference) => {
    if (differences.length < MAX_DIFFERENCES) differences.push(difference);
  };
  const seen = new Set<string>();
  let parts: ImportedIncident[] = [];
  const end = () => {
    const [first] = parts;
    if (first === undefined) return;
    const { id } = first.external;
    // After a broken connection, some come again.
    if (seen.has(id)) return void (parts = []);
    seen.add(id);
    if (!missing.delete(id)) add({ id, field: 'external', expected: null, found: id });
    const expected = sample.get(id);
    if (expected !== undefined) {
      result.compared += 1;
      compareIncident(expected, joined(parts), (field, wanted, found) => add({ id, field, expected: wanted, found }));
    }
    parts = [];
  };
  for await (const line of tocsin.incidents.export({ signal, onInterruption: () => void (parts = []) })) {
    if (line.kind !== 'incident') continue;
    const incident = line as unknown as ImportedIncident;
    if (incident.external.source !== source.name) continue;
    if (parts[0]?.external.id !== incident.external.id) end();
    parts.push(incident);
  }
  end();
  result.found = seen.size;
  for (const id of missing) add({ id, field: 'external', expected: id, found: null });
  return result;
}

const lengthOf = (incident: ImportedIncident | undefined) => incident?.timeline?.length ?? -1;

const joined = (parts: readonly ImportedIncident[]): ImportedIncident => ({
  ...(parts[0] as ImportedIncident),
  timeline: parts.flatMap(({ timeline = [] }) => timeline),
});

type Report = (field: string, expected: unknown, found: unknown) => void;

function compareIncident(expected: ImportedIncident, found: ImportedIncident, report: Report): void {
  const { external, author, people, moments, values, timeline, kind, ...rest } = expected;
  check('external.url', external.url, found.external.url);
  checkAll('', rest, found);
  checkAll('moments.', moments, found.moments);
  checkAll('values.', values, found.values);
  checkPeople('author', [author], [found.author]);
  checkPeople('people.manager', [people?.manager ?? undefined], [found.people?.manager ?? undefined]);
  checkPeople('people.responders', people?.responders ?? [], found.people?.responders ?? []);
  const events = new Map(found.timeline?.map((event) => [event.external_id, event]));
  for (const event of timeline ?? []) {
    const { external_id: id, author: writer, ...properties } = event;
    const place = `timeline.${id}`;
    const stored: Partial<ImportedTimelineEvent> = events.get(id) ?? {};
    checkAll(`${place}.`, properties, stored);
    checkPeople(`${place}.author`, [writer], [stored.author]);
  }

  function check(field: string, wanted: unknown, present: unknown): void {
    const [one, other] = [comparable(wanted), comparable(present)];
    if (!isDeepStrictEqual(one, other)) report(field, wanted, present);
  }
  function checkAll(prefix: string, wanted: object | undefined, present: object | undefined): void {
    for (const [name, value] of Object.entries(wanted ?? {}))
      check(prefix + name, value, (present as Record<string, unknown> | undefined)?.[name]);
  }
  /** A user has the name that they gave themselves in Tocsin. */
  function checkPeople(field: string, wanted: readonly (ImportedPerson | undefined)[], present: typeof wanted): void {
    const keys = (people: typeof wanted) =>
      people.map((person) => person?.email?.toLowerCase() ?? person?.name).toSorted();
    check(field, keys(wanted), keys(present));
  }
}

/** Texts are stored trimmed where they are names. */
const comparable = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : (value ?? null));
