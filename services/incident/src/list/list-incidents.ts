/**
 * `list` is the lists of incidents, and their statistics (contract: Incident lists, Incident statistics). It only
 * reads, and locks nothing. `resolve-query.ts` checks filters and sort by the configuration and, only if they use them,
 * by replicas. `sort-segments.ts` turns the sort into ranges of indexes, and `read-page.ts` reads along them until the
 * page is full: a page costs the same however deep it is (ADR 12). Counts are read at the same time. Incidents whose
 * JSON is kept in this version are not read; if one of those that are has changed since the page was read, both are
 * read again, from one snapshot. A page of a search ends after it has compared 8 MiB of text, and statistics that would
 * compare more than 32 MiB are refused.
 */
import { buildPage, type Cursors, type Json, type Page, type CursorScope } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { type Listed, readWhole } from '@tocsin/versioned-resources';
import { type MrrProjection, mrrProjection } from '../configuration/domain/exchange-rates.ts';
import { legacyFilters } from './domain/list-filters.ts';
import { listSort } from './domain/list-sort.ts';
import { type StatusCounts, statusCounts } from './domain/list-statuses.ts';
import type { IncidentVersion } from '../incidents/store/incident-row.ts';
import { incidentStore, type VersionedIncident } from '../incidents/store/incident-store.ts';
import { type PrefilteredQuery, prefilterByRevenue } from './store/prefilter.ts';
import { readCounts } from './store/read-counts.ts';
import { type ListedPage, type PositionedIncident, readPage } from './store/read-page.ts';
import { sortSegments } from './store/sort-segments.ts';
import { mrrCurrencies } from '../incidents/store/impact-store.ts';
import { readLegacyCursor } from '../shared/domain/legacy-cursor.ts';
import type { RetryDependencies } from '../incidents/run-command.ts';
import { type QueryRequest, resolveQuery } from './resolve-query.ts';
import type { IncidentQuery } from './store/query.ts';
import { noteRead } from '../visibility/store/viewer.ts';
import type { KeysetPosition, SortSegment } from './store/segments.ts';

interface ListRequest<Rendered, Wire> extends QueryRequest {
  /** The path of the list, to which its cursors are bound. */
  path: string;
  cursor: string | undefined;
  limit: number;
  includeCounts: boolean;
  view: (incident: Rendered | VersionedIncident) => Json<Wire>;
}

/** What is rendered already of an incident in this version. */
type FindRendered<Rendered> = (version: IncidentVersion) => Rendered | undefined;

/** An incident of a page; it is rendered or read unless it is large. */
type ListedIncident<Rendered> = PositionedIncident & { content: Rendered | VersionedIncident | undefined };

export interface IncidentList<Wire> {
  page: Page<Wire>;
  /** How many incidents the workspace's history limit hides; undefined if a search has too much text to count them. */
  restrictedCount: number | undefined;
  isHistoryLimited: boolean;
  mrr: MrrProjection;
  /** Undefined unless requested. */
  counts: StatusCounts | undefined;
}

/**
 * Reads one page of a list of incidents, and the counts that come with it (contract: Incident lists).
 * @throws DomainError `invalid_request` or `unknown_field` naming the parameter
 */
export async function listIncidents<Rendered extends IncidentVersion, Wire>(
  dependencies: RetryDependencies & { cursors: Cursors; findRendered: FindRendered<Rendered> },
  request: ListRequest<Rendered, Wire>,
): Promise<IncidentList<Wire>> {
  const { database } = dependencies;
  const { workspace, limit, now } = request;
  const query = await resolveQuery(dependencies, request);
  const segments = sortSegments(query);
  const cursors = listCursors(dependencies.cursors, query, request.path);
  const after = request.cursor === undefined ? undefined : cursors.decode(request.cursor, segments);

  const { statuses, exchangeRates } = query.configuration;
  const prefiltered = await prefilterByRevenue(database, query);
  const { findRendered } = dependencies;
  const [{ listed, searchedUntil }, { restricted, byStatus }, seen] = await Promise.all([
    readRows(database, prefiltered, { segments, after, limit, findRendered }),
    readCounts(database, prefiltered, { includeStatuses: request.includeCounts }),
    exchangeRates.size === 0 ? [] : mrrCurrencies(database, workspace.id).list(),
  ]);
  const page = await buildPage({
    listed,
    limit,
    whole: (rows) =>
      readWhole<Rendered | VersionedIncident>(
        rows.map(({ id, content, largeWeight }) =>
          content === undefined
            ? ({ id, largeWeight: largeWeight ?? 0 } as Listed<VersionedIncident>)
            : { ...content, largeWeight: null },
        ),
        incidentStore(database, workspace.id).readVersioned,
      ),
    view: request.view,
    nextCursor: ({ position }) => cursors.encode(position),
    continueAt: searchedUntil && cursors.encode(searchedUntil),
  });
  return {
    page,
    restrictedCount: restricted,
    isHistoryLimited: query.visibleFrom !== null,
    mrr: mrrProjection({ reportingCurrency: workspace.reporting_currency, rates: exchangeRates, seen, now }),
    counts: byStatus && statusCounts({ counted: byStatus, passing: query.statuses, configured: statuses }),
  };
}

/**
 * Reads a page, and those of its incidents that are not rendered. If one of them has changed in between, it may no longer
 * belong to the page, so both are read again, from one snapshot.
 */
async function readRows<Rendered extends IncidentVersion>(
  database: Knex,
  prefiltered: PrefilteredQuery,
  options: Parameters<typeof readPage>[2] & { findRendered: FindRendered<Rendered> },
): Promise<{ listed: ListedIncident<Rendered>[] } & Pick<ListedPage, 'searchedUntil'>> {
  const { findRendered, ...page } = options;
  const read = async (db: Knex) => {
    const { listed, searchedUntil } = await readPage(db, prefiltered, page);
    noteRead(listed);
    const rendered = new Map(listed.map((row) => [row.id, findRendered(row)]));
    const missing = listed.filter((row) => row.largeWeight === null && rendered.get(row.id) === undefined);
    const { readVersioned } = incidentStore(db, prefiltered.query.workspaceId);
    const incidents = missing.length === 0 ? [] : await readVersioned(missing.map(({ id }) => id));
    const byId = new Map(incidents.map((incident) => [incident.id, incident]));
    const isUnchanged = missing.every(({ id, xmin }) => byId.get(id)?.xmin === xmin);
    const incidentsOfPage = listed.map((row) => ({ ...row, content: rendered.get(row.id) ?? byId.get(row.id) }));
    return { isUnchanged, searchedUntil, listed: incidentsOfPage };
  };
  const first = await read(database);
  if (first.isUnchanged) return first;
  return database.transaction(read, { isolationLevel: 'repeatable read', readOnly: true });
}

/**
 * The cursors of one list (contract: Lists and cursors). They are bound to the list's workspace, path, filters and
 * sort, and hold the name of a sort segment and a position in it. Legacy cursors are taken, too.
 */
function listCursors(cursors: Cursors, query: IncidentQuery, path: string) {
  const { workspaceId, archived, filters, custom, sort } = query;
  const selection = { filters, custom, sort };
  const scope: CursorScope = { workspaceId, path, filters: selection };
  const compatible = { archived: false, filters: legacyFilters(filters), custom: [], sort: listSort({}) };
  return {
    /** @throws DomainError `invalid_request` for a cursor that does not lead into these segments of this list */
    decode(cursor: string, segments: readonly SortSegment[]): KeysetPosition {
      const legacy = readLegacyCursor(cursor, { selection: { ...selection, archived }, compatible });
      if (legacy !== undefined) return { segment: 'created_at', keys: [legacy.at], tie: legacy.id };
      const { segment, position } = cursors.decode(
        cursor,
        scope,
        segments.map(({ name, keys }) => ({ name, keys: ['integer', ...keys] as const })),
      );
      const [tie, ...keys] = position;
      return { segment, keys, tie };
    },

    encode: ({ segment, keys, tie }: KeysetPosition): string =>
      cursors.encode({ segment, position: [tie, ...keys] }, scope),
  };
}
