import { MAX_VALUES } from '@tocsin/schemas';
import { type DocumentSize, sizeOfJson } from '@tocsin/http';
import { type Knex, pipeline, type Statement } from '@tocsin/postgres';
import { type Listed, readWhole } from '@tocsin/versioned-resources';
import type { FollowUp } from '../follow-ups/domain/follow-up.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { shortenChanges } from '../incidents/domain/changes.ts';
import {
  beginningOf,
  changeItemOf,
  eventItemOf,
  type ExportedChange,
  type ExportedEvent,
  type ExportedPicture,
  followUpItemOf,
  pictureLineOf,
  postmortemItemOf,
  type ExportedRelation,
  type LineContext,
  relationItemOf,
  restOf,
} from './domain/export-line.ts';
import { IMPORT_DOCUMENT, MAX_PARTS } from './domain/item.ts';
import {
  changesAfter,
  eventsAfter,
  EXPORT_PAGE,
  followUpsAfter,
  findPostmortem,
  relationsAfter,
  revisionOf,
  wholeChanges,
  wholeEvents,
  wholeFollowUps,
} from './store/export-store.ts';
import { pictureAfter } from './store/picture-transfer-store.ts';

/** The incident is not as it was when its first line was made. */
export class ChangedMeanwhile extends Error {}

interface LinesOptions {
  database: Knex;
  context: LineContext;
  /** Reads the users that the texts name, before `context.personOf` is asked. */
  load: (texts: readonly string[]) => Promise<void>;
  /** What the body of a request may have. */
  bodyBytes: number;
}

type Part =
  | { name: 'values'; part: [slug: string, value: unknown] }
  | { name: 'postmortem'; part: object }
  | { name: 'timeline' | 'changelog' | 'follow_ups' | 'relations'; part: object };

/**
 * Makes the lines of an incident: the first has its properties, and each as much of its values, its timeline, its
 * changelog, its follow-ups, its post-mortem and its relations as fits.
 * @throws ChangedMeanwhile
 */
export async function* incidentLines(incident: Incident, options: LinesOptions): AsyncGenerator<string> {
  const { context, load, bodyBytes } = options;
  const { createdBy, incidentManager, incidentResponders, roles } = incident;
  await load([createdBy, incidentManager, ...incidentResponders, ...Object.values(roles).flat()]);
  const beginning = beginningOf(incident, context);
  let line = openLine({ ...beginning, ...restOf(incident, context) }, bodyBytes);
  let isFirst = true;
  for await (const part of partsOf(incident, options)) {
    const size = sizeOfJson(JSON.stringify(part.part));
    // A part that does not fit into half of a request fits into one.
    if (!line.hasRoomFor(part, size) && (isFirst || !line.isEmpty())) {
      yield line.toJson();
      line = openLine(beginning, bodyBytes);
      isFirst = false;
    }
    line.add(part, size);
  }
  yield line.toJson();
}

/** Makes a line of each picture that an event of an incident has. @throws ChangedMeanwhile */
export async function* pictureLines(
  incident: Incident,
  { database, context }: Pick<LinesOptions, 'database' | 'context'>,
): AsyncGenerator<string> {
  const check = revisionOf(incident.workspaceId, incident.id);
  for (let after = 0; ;) {
    const statements = [pictureAfter(incident, after), check] as const;
    const [[picture], [current]] = await pipeline<[ExportedPicture, { revision: number }]>(database, [...statements]);
    if (current?.revision !== incident.revision) throw new ChangedMeanwhile();
    if (picture === undefined) return;
    yield JSON.stringify(pictureLineOf(picture, incident, context));
    after = picture.id;
  }
}

/** A line, which has at most half of what a request that imports it may have, and as many parts as an item. */
function openLine(head: object, bodyBytes: number) {
  const size = sizeOfJson(JSON.stringify(head));
  const values: [string, unknown][] = [];
  let postmortem: object | undefined;
  const parts: Record<Exclude<Part['name'], 'values' | 'postmortem'>, object[]> = {
    ...{ timeline: [], changelog: [], follow_ups: [], relations: [] },
  };
  const count = () => Object.values(parts).flat().length;
  const isFull = (name: Part['name']) => (name === 'values' ? values.length === MAX_VALUES : count() === MAX_PARTS);
  return {
    isEmpty: () => values.length + count() === 0 && postmortem === undefined,
    hasRoomFor: ({ name }: Part, { bytes, complexity }: DocumentSize) =>
      !isFull(name) &&
      2 * (size.bytes + bytes) <= bodyBytes &&
      2 * (size.complexity + complexity) <= IMPORT_DOCUMENT.complexity,
    add: ({ name, part }: Part, { bytes, complexity }: DocumentSize) => {
      if (name === 'values') values.push(part);
      else if (name === 'postmortem') postmortem = part;
      else parts[name].push(part);
      size.bytes += bytes;
      size.complexity += complexity;
    },
    toJson: () => JSON.stringify({ ...head, values: Object.fromEntries(values), ...parts, postmortem }),
  };
}

async function* partsOf(incident: Incident, { database, context, load }: LinesOptions): AsyncGenerator<Part> {
  for (const part of Object.entries(incident.customFields)) yield { name: 'values', part };
  const reader = { database, incident };
  const events = pagesOf<ExportedEvent>(reader, { after: eventsAfter, whole: wholeEvents });
  if (incident.eventCount > 0) {
    for await (const page of events) {
      await load(page.map(({ createdBy }) => createdBy));
      for (const event of page) yield { name: 'timeline', part: eventItemOf(event, context) };
    }
  }
  const changes = pagesOf<ExportedChange>(reader, {
    after: (of, last) => changesAfter(of, last?.id ?? 0),
    whole: wholeChanges,
  });
  for await (const page of changes) {
    await load(page.map(({ actor }) => actor));
    for (const entry of page) {
      const changes = shortenChanges(entry.changes).changes;
      yield { name: 'changelog', part: changeItemOf({ ...entry, changes }, context) };
    }
  }
  const followUps = pagesOf<FollowUp>(reader, {
    after: (of, last) => followUpsAfter(of, last?.id ?? 0),
    whole: wholeFollowUps,
  });
  for await (const page of followUps) {
    await load(page.flatMap(({ createdBy, owner }) => [createdBy, owner]));
    for (const followUp of page) yield { name: 'follow_ups', part: followUpItemOf(followUp, context) };
  }
  const [written] = await readUnchanged(reader, findPostmortem(incident));
  if (written !== undefined) {
    const { createdBy, updatedBy, inReviewBy, publishedBy } = written;
    await load([createdBy, updatedBy, inReviewBy ?? '', publishedBy ?? '']);
    yield { name: 'postmortem', part: postmortemItemOf(written, context) };
  }
  const relations = pagesOf<ExportedRelation>(reader, {
    after: relationsAfter,
    whole: undefined,
  });
  for await (const page of relations) {
    await load(page.map(({ createdBy }) => createdBy));
    for (const relation of page) yield { name: 'relations', part: relationItemOf(relation, context) };
  }
}

interface Reader {
  database: Knex;
  incident: Incident;
}

/** @throws ChangedMeanwhile */
async function readUnchanged<Row>({ database, incident }: Reader, statement: Statement<Row>): Promise<Row[]> {
  const check = revisionOf(incident.workspaceId, incident.id);
  const [rows, [current]] = await pipeline<[Row, { revision: number }]>(database, [statement, check]);
  if (current?.revision !== incident.revision) throw new ChangedMeanwhile();
  return rows;
}

/** Reads the rows of an incident page by page, those with large columns a few at a time. @throws ChangedMeanwhile */
async function* pagesOf<Row extends { id: number }>(
  reader: Reader,
  statements: {
    after: (of: Incident, last: Row | undefined) => Statement<Listed<Row>>;
    /** Undefined if no row is large. */
    whole: ((of: Incident, ids: readonly number[]) => Statement<Row>) | undefined;
  },
): AsyncGenerator<Row[]> {
  const { incident } = reader;
  const read = async <Each>(statement: Statement<Each>): Promise<Each[]> => readUnchanged(reader, statement);
  let last: Row | undefined;
  for (;;) {
    const listed = await read(statements.after(incident, last));
    let page: Row[] = [];
    const readLarge = async (ids: readonly number[]) =>
      statements.whole === undefined ? [] : read(statements.whole(incident, ids));
    for await (const row of readWhole<Row>(listed, readLarge)) {
      if (row === undefined) throw new ChangedMeanwhile();
      page.push(row);
      // A few of them are large.
      if (page.length < LARGE_PAGE) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
    last = listed.at(-1);
    if (listed.length < EXPORT_PAGE) return;
  }
}

/** Rows of which at least some are held at a time. */
const LARGE_PAGE = 10;
