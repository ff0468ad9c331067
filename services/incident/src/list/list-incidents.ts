import type { CustomFieldDefinition, WorkspaceContext } from '@tocsin/contracts';
import { buildPage, type Cursors, invalidRequest, type Json, type Page, visibleFrom } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { customPredicates } from './domain/custom-filter.ts';
import { conversions, type MrrProjection, mrrProjection } from '../configuration/domain/exchange-rates.ts';
import type { Fields } from '../replicas/domain/fields.ts';
import { type FilterParameters, listFilters } from './domain/list-filters.ts';
import { type ListSort, listSort, type SortParameters } from './domain/list-sort.ts';
import {
  checkSeverities,
  checkTiers,
  passingStatuses,
  type StatusCounts,
  statusCounts,
} from './domain/list-statuses.ts';
import type { Knex } from '@tocsin/postgres';
import { readWhole } from '@tocsin/resources';
import type { IncidentVersion } from '../incidents/store/incident-row.ts';
import { incidentStore, type VersionedIncident } from '../incidents/store/incident-store.ts';
import { EMPTY_CATALOG } from '../replicas/store/catalog.ts';
import { isSortable } from './store/custom-sort.ts';
import { type PrefilteredQuery, prefilterByRevenue } from './store/prefilter.ts';
import { type IncidentQuery, readTiers } from './store/query.ts';
import { readCounts } from './store/read-counts.ts';
import { type ListedPage, type PositionedIncident, readPage } from './store/read-page.ts';
import { sortSegments } from './store/sort-segments.ts';
import { mrrCurrencies } from '../incidents/store/mrr-currencies.ts';
import type { Dependencies } from '../dependencies.ts';
import { listCursors } from './list-cursors.ts';
import { checkByReplica } from '../replicas/replicas.ts';

export interface ListRequest<Wire> {
  workspace: WorkspaceContext;
  /** Archived incidents instead of active ones. */
  archived: boolean;
  /** The path of the list, to which its cursors are bound. */
  path: string;
  /** Filters and sort, by their names on the wire. Each is well-formed. */
  parameters: FilterParameters & SortParameters & { custom_filter?: readonly string[] | undefined };
  cursor: string | undefined;
  limit: number;
  includeCounts: boolean;
  now: Instant;
  /** Renders an incident, which is only its version if `isRendered` says that this is enough. */
  view: (incident: IncidentVersion | VersionedIncident) => Json<Wire>;
}

/** An incident of a page; it is read if it is neither rendered nor large. */
type ListedIncident = PositionedIncident & { read: VersionedIncident | undefined };

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
export async function listIncidents<Wire>(
  dependencies: Dependencies & { cursors: Cursors; isRendered: (version: IncidentVersion) => boolean },
  request: ListRequest<Wire>,
): Promise<IncidentList<Wire>> {
  const { database } = dependencies;
  const { workspace, limit, now } = request;
  const query = await resolveQuery(dependencies, request);
  const segments = sortSegments(query);
  const cursors = listCursors(dependencies.cursors, query, request.path);
  const after = request.cursor === undefined ? undefined : cursors.decode(request.cursor, segments);

  const { statuses, exchangeRates } = query.configuration;
  const prefiltered = await prefilterByRevenue(database, query);
  const { isRendered } = dependencies;
  const [{ listed, searchedUntil }, { restricted, byStatus }, seen] = await Promise.all([
    readRows(database, prefiltered, { segments, after, limit, isRendered }),
    readCounts(database, prefiltered, { includeStatuses: request.includeCounts }),
    exchangeRates.size === 0 ? [] : mrrCurrencies(database, workspace.id).list(),
  ]);
  const page = await buildPage({
    listed,
    limit,
    whole: (rows) =>
      readWhole<IncidentVersion | VersionedIncident>(
        rows.map(({ read, ...row }) => {
          if (read !== undefined) return { ...read, largeWeight: null };
          // What is no longer kept is read as a large incident is.
          return isRendered(row) ? row : { ...row, largeWeight: row.largeWeight ?? 0 };
        }),
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
async function readRows(
  database: Knex,
  prefiltered: PrefilteredQuery,
  options: Parameters<typeof readPage>[2] & { isRendered: (version: IncidentVersion) => boolean },
): Promise<{ listed: ListedIncident[] } & Pick<ListedPage, 'searchedUntil'>> {
  const { isRendered, ...page } = options;
  const read = async (db: Knex) => {
    const { listed, searchedUntil } = await readPage(db, prefiltered, page);
    const missing = listed.filter((row) => row.largeWeight === null && !isRendered(row));
    const { readVersioned } = incidentStore(db, prefiltered.query.workspaceId);
    const incidents = missing.length === 0 ? [] : await readVersioned(missing.map(({ id }) => id));
    const byId = new Map(incidents.map((incident) => [incident.id, incident]));
    const isUnchanged = missing.every(({ id, xmin }) => byId.get(id)?.xmin === xmin);
    return { isUnchanged, searchedUntil, listed: listed.map((row) => ({ ...row, read: byId.get(row.id) })) };
  };
  const first = await read(database);
  if (first.isUnchanged) return first;
  return database.transaction(read, { isolationLevel: 'repeatable read', readOnly: true });
}

/**
 * Checks the parameters and reads what the list depends on. Replicas are refreshed only if a filter or the sort uses
 * them.
 */
async function resolveQuery(dependencies: Dependencies, request: ListRequest<unknown>): Promise<IncidentQuery> {
  const { database } = dependencies;
  const { workspace, archived, parameters, now } = request;
  const filters = listFilters(parameters, workspace.reporting_currency);
  const sort = listSort(parameters);
  const configuration = await dependencies.configurations.get(workspace);
  const statuses = passingStatuses(filters, configuration.statuses);
  checkSeverities(filters, configuration.severities);

  const customFilters = parameters.custom_filter ?? [];
  const needsTiers = filters.serviceTiers.length > 0;
  const needsCatalog = needsTiers || filters.effectiveTeams.length > 0 || (sort.key === 'team' && !archived);
  const needsFields = customFilters.length > 0 || sort.key === 'custom';
  const owners = [...(needsCatalog ? (['catalog'] as const) : []), ...(needsFields ? (['custom_field'] as const) : [])];
  const references = await dependencies.replicas.withFreshReplicas(workspace, owners, async (freshness) => {
    if (needsTiers) {
      const tiers = await readTiers(database, workspace.id);
      await checkByReplica(freshness, 'catalog', () => checkTiers(filters, tiers));
    }
    const catalog = needsCatalog
      ? await dependencies.catalogs.get(workspace.id, freshness.get('catalog')?.version)
      : EMPTY_CATALOG;
    if (!needsFields) return { catalog, custom: [], sortField: null };
    const fields = await dependencies.fields.get(workspace.id, freshness.get('custom_field')?.version);
    return checkByReplica(freshness, 'custom_field', () => ({
      catalog,
      custom: customPredicates(customFilters, fields),
      sortField: sortFieldOf(sort, fields),
    }));
  });

  return {
    ...references,
    workspaceId: workspace.id,
    archived,
    filters,
    sort,
    configuration,
    statuses,
    conversions: conversions(workspace.reporting_currency, configuration.exchangeRates),
    visibleFrom: visibleFrom(workspace.history_days, now),
  };
}

/**
 * @throws DomainError `invalid_request` for a field that does not exist, is archived, or has a type without an order
 */
function sortFieldOf({ key, field: slug }: ListSort, fields: Fields): CustomFieldDefinition | null {
  if (key !== 'custom') return null;
  const field = fields.findBySlug(slug ?? '');
  if (field?.archived_at !== null) {
    throw invalidRequest('sort_custom_field', 'Must be the slug of an active custom field');
  }
  if (!isSortable(field.field_type)) {
    throw invalidRequest('sort_custom_field', `Must not be of type ${field.field_type}, which has no order`);
  }
  return field;
}
