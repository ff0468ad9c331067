import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ImportedIncident, ImportedPerson, ImportedTimelineEvent } from '@tocsin/sdk';
import { cut, type Mapper } from './mapping.ts';
import type { Draft, Entry, Person, Source } from './source.ts';

/** Of an item: timeline events, bytes of them as JSON, and their weight. */
const MAX_EVENTS = 500;
const MAX_BYTES = 600_000;
const MAX_WEIGHT = 80_000;
/** Characters of a title, and of a body of which several events are made. */
const TITLE = 255;
const BODY = 60_000;
/** Of an event: tags, and characters of one and of its type. */
export const MAX_TAGS = 50;
export const LONGEST_TAG = 64;
export const LONGEST_TYPE = 64;

/** An incident as the API takes it in a transfer: in several items with the same ID, if its timeline is long. */
export type Converted = { id: string; items: ImportedIncident[] } | { id: string; field: string; message: string };

/** Makes the items of an incident, and notes what becomes of it. */
export function toItems(draft: Draft, { source, mapper }: { source: Source; mapper: Mapper }): Converted {
  const { id } = draft;
  mapper.begin(id);
  const time = timesOf(mapper);
  const [status = '', severity = '', created = ''] = [
    mapper.status(draft.status),
    mapper.severity(draft.severity),
    time('created_at', draft.createdAt),
  ];

  const person = (given: Person | undefined): ImportedPerson => personOf(given, { source, mapper });
  const title = shown(draft.title);
  const entries = [...draft.entries];
  if (title === '') mapper.note('empty title', 'the ID');
  if (title.length > TITLE) {
    mapper.note('long title', 'a part, and the whole in the timeline');
    entries.unshift({ id: 'title', type: 'title', body: title, at: created });
  }
  const { team, service, meetUrl, docUrl, url, statusChangedAt, manager } = draft;
  const slug = team === undefined ? undefined : mapper.team(team);
  for (const [name, address] of Object.entries({ url, meetUrl, docUrl }))
    if (address !== undefined && address !== '' && !isUrl(address)) mapper.note(`${name} that is no web address`, null);
  const { impact_started_at, first_reported_at, first_responded_at, recovered_at } = draft.moments;
  // Two of the source may be one person in Tocsin.
  const responders = new Map(
    draft.responders.map(person).map((each) => [each.email?.toLowerCase() ?? each.name, each]),
  );
  if (responders.size > 100) mapper.note('more than 100 responders', null);
  const item: ImportedIncident = {
    external: { source: source.name, id, ...(isUrl(url) && { url }) },
    title: title === '' ? `${source.title} ${id}` : cut(title, TITLE),
    ...{ status, severity, created_at: created, author: person(draft.author) },
    status_changed_at: time('status_changed_at', statusChangedAt) ?? null,
    moments: {
      impact_started_at: time('impact_started_at', impact_started_at) ?? null,
      first_reported_at: time('first_reported_at', first_reported_at) ?? null,
      first_responded_at: time('first_responded_at', first_responded_at) ?? null,
      recovered_at: time('recovered_at', recovered_at) ?? null,
    },
    people: {
      manager: manager === undefined ? null : person(manager),
      responders: [...responders.values()].slice(0, 100),
    },
    ...(slug !== undefined && { team: slug }),
    ...(service !== undefined && service !== '' && { service: mapper.service(clean(service)) }),
    ...(isUrl(meetUrl) && { meet_url: meetUrl }),
    ...(isUrl(docUrl) && { doc_url: docUrl }),
    values: valuesOf(draft, mapper),
  };
  const byId = Map.groupBy(entries, (entry) => entry.id);
  for (const [first, ...others] of byId.values())
    if (others.some((other) => !isDeepStrictEqual(first, other)))
      mapper.note('entry whose ID another one has, and that differs', null);
  const events = [...byId.values()]
    .flatMap(([first]) => first ?? [])
    .flatMap((entry) => eventsOf(entry, { created, mapper, person }));
  // All findings of a refused one are noted, too: one plan shows everything.
  if (status === '') return { id, field: 'status', message: `${draft.status} is no status of the workspace` };
  if (severity === '')
    return { id, field: 'severity', message: `${draft.severity || 'none'} is no severity of the workspace` };
  if (created === '') return { id, field: 'created_at', message: `${draft.createdAt} is no time` };
  const { external, author } = item;
  const partHead = { external, title: item.title, status, severity, created_at: created, author };
  return { id, items: partsOf(events).map((timeline, part) => ({ ...(part === 0 ? item : partHead), timeline })) };
}

function valuesOf({ fields }: Draft, mapper: Mapper): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const counterpart = mapper.field(name, cleanAll(value));
    if (counterpart === undefined) continue;
    const [slug, converted] = counterpart;
    // Of the types, only texts may be empty.
    if (converted === undefined) mapper.note(`empty value of field ${name}`, null);
    else if (Object.hasOwn(values, slug)) mapper.note(`field ${name}, whose place another field has`, null);
    else values[slug] = converted;
  }
  return values;
}

/** The texts of an entry, each in an event of its own if it is too long for one. */
function eventsOf(
  entry: Entry,
  {
    created,
    mapper,
    person,
  }: { created: string; mapper: Mapper; person: (given: Person | undefined) => ImportedPerson },
): ImportedTimelineEvent[] {
  const time = timesOf(mapper);
  const start = time('time of an entry', entry.at) ?? created;
  const end = entry.until === undefined ? undefined : time('end of an entry', entry.until);
  const isReversed = end !== undefined && end < start;
  if (isReversed) mapper.note('end of an entry before its start', null);
  const body = shown(entry.body) === '' ? entry.type || 'empty' : clean(entry.body);
  const part = (text: string, length: number, what: string) => {
    if (text.length > length) mapper.note(`long ${what}`, 'a part');
    return cut(text, length);
  };
  const tags = (entry.tags ?? []).map((tag) => part(clean(tag).trim(), LONGEST_TAG, 'tag')).filter((tag) => tag !== '');
  if (tags.length > MAX_TAGS) mapper.note(`more than ${MAX_TAGS} tags`, null);
  const origin = part(clean(entry.origin ?? ''), 2_048, 'origin of an entry');
  const event = {
    type: part(shown(entry.type) || 'event', LONGEST_TYPE, 'type of an entry'),
    started_at: start,
    author: person(entry.author),
    ...(entry.isKey === true && { is_key: true }),
    ...(tags.length > 0 && { tags: tags.slice(0, MAX_TAGS) }),
    ...(origin !== '' && { source_ref: origin }),
    ...(end !== undefined && !isReversed && end !== start && { ended_at: end }),
  };
  const texts = textsOf(body);
  return texts.map((text, index) => ({ ...event, external_id: eventIdOf(entry.id, index), body: text }));
}

/** The ID of an event in its incident, of which there are several for a long text. A long one stays unique. */
export function eventIdOf(id: string, index: number): string {
  const digest = () => createHash('sha256').update(id).digest('hex').slice(0, 32);
  const short = id.length > 150 ? `${cut(id, 100)}~${digest()}` : id;
  return index === 0 ? short : `${short}#${index + 1}`;
}

function textsOf(body: string): string[] {
  const texts: string[] = [];
  for (let remainder = body; remainder !== '';) {
    // Neither half of a pair of surrogates, nor white space alone, may stand by itself.
    const isPair = /[\ud800-\udbff]/.test(remainder.charAt(BODY - 1));
    const text = remainder.slice(0, isPair ? BODY - 1 : BODY);
    remainder = remainder.slice(text.length);
    if (text.trim() !== '') texts.push(text);
  }
  return texts;
}

function partsOf(events: readonly ImportedTimelineEvent[]): ImportedTimelineEvent[][] {
  const parts: ImportedTimelineEvent[][] = [[]];
  let [bytes, weight] = [0, 0];
  for (const event of events) {
    const size = Buffer.byteLength(JSON.stringify(event));
    const eventWeight = weightOf(event);
    const last = parts.at(-1) ?? [];
    const hasPlace = last.length < MAX_EVENTS && bytes + size <= MAX_BYTES && weight + eventWeight <= MAX_WEIGHT;
    if (hasPlace) last.push(event);
    else parts.push([event]);
    [bytes, weight] = hasPlace ? [bytes + size, weight + eventWeight] : [size, eventWeight];
  }
  return parts;
}

/** What the API counts of a document, of which a request has at most 150,000 (contract: Limits). */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return 4;
  if (typeof value !== 'object' || value === null) return 1;
  const names = Array.isArray(value) ? 0 : Object.keys(value).length * 10;
  return Object.values(value).reduce((sum: number, each) => sum + weightOf(each), 3 + names);
}

/** Names that are a number would be somebody's ID. */
export function personOf(
  given: Person | undefined,
  { source, mapper }: { source: Source; mapper: Mapper },
): ImportedPerson {
  if (given === undefined) return { name: source.title };
  const { name, email } = mapper.person({ name: shown(given.name), email: given.email?.trim() });
  const isAddress =
    email !== undefined && email.length <= 254 && /^[^<>\s@]+@[^<>\s@]+$/.test(email) && !UNSEEN.test(email);
  if (email !== undefined && email !== '' && !isAddress) mapper.note('address of a person that is none', null);
  const text = cut(name.trim(), 255) || (isAddress ? email : 'unknown');
  return isAddress ? { name: text, email } : { name: /^\d+$/.test(text) ? `${source.title} ${text}` : text };
}

/** Returns times in UTC, to the millisecond; what is none is noted as lost. */
const timesOf =
  (mapper: Mapper) =>
  (name: string, text: string | undefined): string | undefined => {
    if (text === undefined || text === '') return undefined;
    const time = new Date(text);
    if (!Number.isNaN(time.getTime()) && time.getTime() > 0) return time.toISOString();
    mapper.note(`${name} that is no time`, null);
    return undefined;
  };

/** What PostgreSQL cannot store is replaced. */
const SHOWN_AS_NOTHING = String.raw`\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800`;
const UNSEEN = new RegExp(`[${SHOWN_AS_NOTHING}]`, 'u');
const BLANK = new RegExp(`^[${SHOWN_AS_NOTHING}]*$`, 'u');

/** Empty for a text that shows nothing, which the API refuses where a text is required. */
const shown = (text: string): string => (BLANK.test(text) ? '' : clean(text).trim());

export const clean = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd');

const cleanAll = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(cleanAll) : typeof value === 'string' ? clean(value) : value;

export const isUrl = (url: string | undefined): url is string =>
  url !== undefined && url.length <= 2_048 && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
