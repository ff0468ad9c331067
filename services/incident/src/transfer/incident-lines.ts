import { type Knex, type PreparedStatement, runPipeline } from '@tocsin/postgres';
import { type Listed, readWhole } from '@tocsin/resources';
import type { Incident } from '../incidents/domain/incident.ts';
import { shortenChanges } from '../incidents/domain/large-changes.ts';
import {
  beginningOf,
  changeItemOf,
  eventItemOf,
  type ExportedChange,
  type ExportedEvent,
  type LineContext,
  restOf,
} from './domain/export-line.ts';
import { changesAfter, eventsAfter, EXPORT_PAGE, revisionOf, wholeChanges, wholeEvents } from './store/export-store.ts';

/** Bytes of JSON after which a line ends and the next one goes on: an import takes less than a mebibyte. */
const LINE_BYTES = 524_288;
/** Parts of an incident in one line: an import takes as many events, and as many changelog entries. */
const MAX_PARTS = 500;

/** The incident is not as it was when its first line was made. */
export class ChangedMeanwhile extends Error {}

type PartName = 'timeline' | 'changelog';

/**
 * Makes the lines of an incident: the first has its properties, and each as much of its timeline and its changelog as fits.
 * @param options.load reads the users that the texts name, before `context.personOf` is asked
 * @throws ChangedMeanwhile
 */
export async function* incidentLines(
  incident: Incident,
  options: { database: Knex; context: LineContext; load: (texts: readonly string[]) => Promise<void> },
): AsyncGenerator<string> {
  const { context, load } = options;
  await load([incident.createdBy, incident.incidentManager, ...incident.incidentResponders]);
  const beginning = beginningOf(incident, context);
  let line: object = { ...beginning, ...restOf(incident, context) };
  let parts: Record<PartName, object[]> = { timeline: [], changelog: [] };
  let bytes = bytesOf(line);
  for await (const [name, part] of partsOf(incident, options)) {
    const size = bytesOf(part);
    const count = parts.timeline.length + parts.changelog.length;
    if (count === MAX_PARTS || (count > 0 && bytes + size > LINE_BYTES)) {
      yield JSON.stringify({ ...line, ...parts });
      [line, parts, bytes] = [beginning, { timeline: [], changelog: [] }, bytesOf(beginning)];
    }
    parts[name].push(part);
    bytes += size;
  }
  yield JSON.stringify({ ...line, ...parts });
}

const bytesOf = (value: object) => Buffer.byteLength(JSON.stringify(value));

async function* partsOf(
  incident: Incident,
  { database, context, load }: Parameters<typeof incidentLines>[1],
): AsyncGenerator<[PartName, object]> {
  const { id, eventCount } = incident;
  const reader = { database, incident };
  const events = pagesOf<ExportedEvent>(reader, { after: (last) => eventsAfter(id, last), whole: wholeEvents });
  if (eventCount > 0) {
    for await (const page of events) {
      await load(page.map(({ createdBy }) => createdBy));
      for (const event of page) yield ['timeline', eventItemOf(event, context)];
    }
  }
  const changes = pagesOf<ExportedChange>(reader, {
    after: (last) => changesAfter(id, last?.id ?? 0),
    whole: wholeChanges,
  });
  for await (const page of changes) {
    await load(page.map(({ actor }) => actor));
    for (const entry of page) {
      yield ['changelog', changeItemOf({ ...entry, changes: shortenChanges(entry.changes).changes }, context)];
    }
  }
}

/** Reads the rows of an incident page by page, those with large columns a few at a time. @throws ChangedMeanwhile */
async function* pagesOf<Row extends { id: number }>(
  { database, incident }: { database: Knex; incident: Incident },
  statements: {
    after: (last: Row | undefined) => PreparedStatement<Listed<Row>>;
    whole: (ids: readonly number[]) => PreparedStatement<Row>;
  },
): AsyncGenerator<Row[]> {
  const check = revisionOf(incident.workspaceId, incident.id);
  const read = async <Each>(statement: PreparedStatement<Each>): Promise<Each[]> => {
    const [rows, [current]] = await runPipeline<[Each, { revision: number }]>(database, [statement, check]);
    if (current?.revision !== incident.revision) throw new ChangedMeanwhile();
    return rows;
  };
  let last: Row | undefined;
  for (;;) {
    const listed = await read(statements.after(last));
    let page: Row[] = [];
    for await (const row of readWhole<Row>(listed, async (ids) => read(statements.whole(ids)))) {
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
