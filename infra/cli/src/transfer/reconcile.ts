import { isDeepStrictEqual } from 'node:util';
import type { ImportedIncident, ImportedPerson, ImportedTimelineEvent, Tocsin } from '@tocsin/sdk';
import { readFacts } from './facts.ts';
import { clean, eventIdOf, isUrl, LONGEST_TAG, LONGEST_TYPE, MAX_TAGS, personOf } from './items.ts';
import { cut, type Mapper, TEXT_TYPES } from './mapping.ts';
import { type Facts, type FactualEntry, isAbsent, type Person, type Source, textOf } from './source.ts';

export interface Difference {
  id: string;
  field: string;
  expected: unknown;
  actual: unknown;
}

export interface Comparison {
  /** Of the source, of Tocsin, and those that were compared in full. */
  expected: number;
  actual: number;
  compared: number;
  differences: Difference[];
}

/** Differences that are told. */
const MAX_DIFFERENCES = 1_000;
/** Characters of the title of an incident. */
const TITLE = 255;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT/;

/**
 * Compares the answers of the source with the export: whether each incident is there, and of a sample, which includes the
 * longest one, all that the answers say. What the mapping decides is applied to names, and nothing else of the apply.
 */
export async function compare(
  tocsin: Tocsin,
  folder: string,
  { source, mapper, size, signal }: { source: Source; mapper: Mapper; size: number; signal: AbortSignal },
): Promise<Comparison> {
  const read = readFacts(folder, source.facts);
  const missing = new Set(read.ids);
  const facts = read.factsOf(sampleOf(read, size));
  const result: Comparison = { expected: missing.size, actual: 0, compared: 0, differences: [] };
  const { differences } = result;
  const add = (...more: Difference[]) => {
    differences.push(...more.slice(0, MAX_DIFFERENCES - differences.length));
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
    if (!missing.delete(id)) add({ id, field: 'external', expected: null, actual: id });
    const rows = facts.get(id);
    if (rows !== undefined) {
      result.compared += 1;
      const incident = joined(parts);
      const [fewest = []] = rows
        .map((row) => differencesOf(row, incident, { source, mapper }))
        .toSorted((one, other) => one.length - other.length);
      add(...fewest.map(([field, expected, present]) => ({ id, field, expected, actual: present })));
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
  result.actual = seen.size;
  for (const id of missing) add({ id, field: 'external', expected: id, actual: null });
  return result;
}

/** Every nth, and the one with most answers. */
function sampleOf({ ids, sizeOf }: Pick<ReturnType<typeof readFacts>, 'ids' | 'sizeOf'>, size: number): Set<string> {
  const step = Math.ceil(ids.size / size);
  const sample = new Set([...ids].filter((_, index) => index % step === 0));
  let longest: { id: string; size: number } | undefined;
  for (const id of ids) {
    const amount = sizeOf(id);
    if (amount > (longest?.size ?? 0)) longest = { id, size: amount };
  }
  if (longest !== undefined) sample.add(longest.id);
  return sample;
}

const joined = (parts: readonly ImportedIncident[]): ImportedIncident => ({
  ...(parts[0] as ImportedIncident),
  values: Object.assign({}, ...parts.map(({ values }) => values)) as ImportedIncident['values'],
  timeline: parts.flatMap(({ timeline = [] }) => timeline),
});

type FieldDifference = [field: string, expected: unknown, present: unknown];

/** Compares fields with what the source says of them, and collects the differences. */
interface Checks {
  differences: FieldDifference[];
  check(field: string, expected: unknown, present: unknown, isEqual?: boolean): void;
  checkTime(field: string, time: unknown, present: unknown): void;
  checkPeople(
    field: string,
    people: readonly (Person | undefined)[],
    present: readonly (ImportedPerson | null | undefined)[],
  ): void;
}

function checksWith({ source, mapper }: { source: Source; mapper: Mapper }): Checks {
  const differences: FieldDifference[] = [];
  const check: Checks['check'] = (field, expected, present, isEqual = isDeepStrictEqual(expected, present)) => {
    if (!isEqual) differences.push([field, expected, present ?? null]);
  };
  return {
    differences,
    check,
    checkTime: (field, time, present) => {
      const wanted = typeof time === 'string' ? Date.parse(time) : Number.NaN;
      // What is no time, or before 1970, is a finding of the plan.
      if (wanted > 0) check(field, time, present, wanted === Date.parse(textOf(present)));
    },
    checkPeople: (field, people, present) => {
      const keys = (all: readonly (ImportedPerson | null | undefined)[]) =>
        all.map((one) => one?.email?.toLowerCase() ?? one?.name);
      const there = keys(present);
      const wanted = keys(people.map((person) => personOf(person, { source, mapper })));
      check(
        field,
        wanted,
        there,
        wanted.every((one) => there.includes(one)),
      );
    },
  };
}

function differencesOf(
  facts: Facts,
  incident: ImportedIncident,
  { source, mapper }: { source: Source; mapper: Mapper },
): FieldDifference[] {
  const checks = checksWith({ source, mapper });
  const { differences, check, checkTime, checkPeople } = checks;
  const events = new Map(incident.timeline?.map((event) => [event.external_id, event]));

  const title = clean(textOf(facts.title)).trim();
  if (title.length > TITLE) check('title', title, incident.title, textOfEvent('title', events).trim() === title);
  else if (title !== '') check('title', title, incident.title);
  check('status', mapper.status(facts.status), incident.status);
  check('severity', mapper.severity(facts.severity), incident.severity);
  if (facts.service) check('service', mapper.service(clean(facts.service)), incident.service);
  const team = facts.team ? mapper.team(facts.team) : undefined;
  if (team !== undefined) check('team', team, incident.team);
  for (const [field, time] of Object.entries(facts.times)) checkTime(field, time, at(incident, field));
  for (const [field, address] of Object.entries(facts.addresses))
    if (typeof address === 'string' && isUrl(address)) check(field, address, at(incident, field));
  if (facts.author !== undefined) checkPeople('author', [facts.author], [incident.author]);
  if (facts.manager !== undefined) checkPeople('people.manager', [facts.manager], [incident.people?.manager]);
  if (facts.responders.length < 100)
    checkPeople('people.responders', facts.responders, incident.people?.responders ?? []);

  const taken = new Set<string>();
  for (const [name, value] of facts.fields) {
    const field = isAbsent(value) ? null : mapper.fieldOf(name);
    if (field === null) continue;
    const slug = field?.slug ?? name;
    const isEmpty = words(value).join('').trim() === '' && !TEXT_TYPES.includes(field?.type ?? '');
    // That the field cannot hold it, or holds another one, is a finding of the plan.
    if (taken.has(slug) || (field !== undefined && isEmpty)) continue;
    taken.add(slug);
    const present: unknown = incident.values?.[slug];
    check(`values.${slug}`, value, present, isSameValue(value, present));
  }
  for (const entry of facts.entries) checkEntry(checks, entry, events);
  return differences;
}

function checkEntry(
  { check, checkTime, checkPeople }: Checks,
  { id, type, at: time, until, isKey, texts, tags = [], author }: FactualEntry,
  events: ReadonlyMap<string | undefined, ImportedTimelineEvent>,
): void {
  const place = `timeline.${id}`;
  const event: Partial<ImportedTimelineEvent> = events.get(eventIdOf(id, 0)) ?? {};
  const body = textOfEvent(id, events);
  check(place, id, event.external_id, event.external_id !== undefined);
  for (const text of texts) {
    const wanted = clean(textOf(text)).trim();
    if (wanted !== '' && wanted !== '{}') check(`${place}.body`, wanted, body, body.includes(wanted));
  }
  const wantedType = cut(clean(textOf(type)).trim(), LONGEST_TYPE);
  if (wantedType !== '') check(`${place}.type`, wantedType, event.type);
  if (isKey !== undefined) check(`${place}.is_key`, isKey, event.is_key ?? false);
  checkTime(`${place}.started_at`, time, event.started_at);
  // An end before the start is a finding of the plan, and one at the start is none.
  if (Date.parse(textOf(until)) > Date.parse(textOf(time))) checkTime(`${place}.ended_at`, until, event.ended_at);
  const present = event.tags ?? [];
  const wanted = tags
    .map((tag) => clean(textOf(tag)).trim())
    .filter((tag) => tag !== '')
    .slice(0, MAX_TAGS);
  for (const tag of wanted)
    check(
      `${place}.tags`,
      tag,
      present,
      present.some((one) => one === tag || (tag.length > LONGEST_TAG && tag.startsWith(one))),
    );
  if (author !== undefined) checkPeople(`${place}.author`, [author], [event.author]);
}

/** The bodies of the events that were made of one text. */
function textOfEvent(id: string, events: ReadonlyMap<string | undefined, ImportedTimelineEvent>): string {
  let text = '';
  for (let index = 0; ; index += 1) {
    const event = events.get(eventIdOf(id, index));
    if (event === undefined) return text;
    text += event.body;
  }
}

/** `moments.recovered_at` of an incident. */
const at = (value: object, field: string): unknown =>
  field.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], value);

const words = (value: unknown): string[] =>
  [value]
    .flat()
    .filter((one) => !isAbsent(one))
    .map((one) => (typeof one === 'string' ? clean(one) : textOf(one)));

/** Whether a field holds a value of the source, whatever its type is. */
function isSameValue(value: unknown, present: unknown): boolean {
  if (isDeepStrictEqual(value, present)) return true;
  if (isAbsent(present)) return false;
  const [wanted, there] = [words(value), words(present)];
  if (typeof present === 'number') return Number(wanted.join()) === present;
  if (wanted.join(', ') === there.join(', ')) return true;
  return TIMESTAMP.test(there.join()) && Date.parse(wanted.join()) === Date.parse(there.join());
}
