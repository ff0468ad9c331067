import type { CustomFieldDefinition, WorkspaceContext } from '@tocsin/schemas';
import { invalidRequest, visibleFrom } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { conversions } from '../configuration/domain/exchange-rates.ts';
import { type RetryDependencies, withRetries } from '../incidents/run-command.ts';
import type { Fields } from '../replicas/domain/fields.ts';
import { checkByReplica } from '../replicas/replicas.ts';
import { EMPTY_CATALOG } from '../replicas/store/catalog.ts';
import { customPredicates } from './domain/custom-filter.ts';
import { type FilterParameters, listFilters } from './domain/list-filters.ts';
import { type ListSort, listSort, type SortParameters } from './domain/list-sort.ts';
import { checkSeverities, checkTiers, passingStatuses } from './domain/list-statuses.ts';
import { isSortable } from './store/custom-sort.ts';
import { type IncidentQuery, readTiers } from './store/query.ts';

export interface QueryRequest {
  workspace: WorkspaceContext;
  /** Archived incidents instead of active ones. */
  archived: boolean;
  /** Filters and sort, by their names on the wire. Each is well-formed. */
  parameters: FilterParameters & SortParameters & { custom_filter?: readonly string[] | undefined };
  now: Instant;
}

/**
 * Checks the parameters and reads what the list depends on. Replicas are refreshed only if a filter or the sort uses
 * them.
 * @throws DomainError `invalid_request` or `unknown_field` naming the parameter
 */
export async function resolveQuery(dependencies: RetryDependencies, request: QueryRequest): Promise<IncidentQuery> {
  const { database, replicas } = dependencies;
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
  const references = await withRetries(dependencies, { workspace, replicas: owners }, async ({ freshness }) => {
    if (needsTiers) {
      const tiers = await readTiers(database, workspace.id);
      checkByReplica(freshness, 'catalog', () => {
        checkTiers(filters, tiers);
      });
    }
    const catalog = needsCatalog
      ? await replicas.catalogs.get(workspace.id, freshness.get('catalog')?.version)
      : EMPTY_CATALOG;
    if (!needsFields) return { catalog, custom: [], sortField: null };
    const fields = await replicas.fields.get(workspace.id, freshness.get('custom_field')?.version);
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
