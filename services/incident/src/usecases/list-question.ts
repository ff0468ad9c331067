import type { CustomFieldDefinition } from '@tocsin/contracts';
import { invalid, type WorkspaceContext } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { customPredicates } from '../domain/custom-filter.ts';
import { conversions } from '../domain/exchange.ts';
import type { Fields } from '../domain/fields.ts';
import { visibleFrom } from '../domain/history.ts';
import { listFilters, type ListQuery } from '../domain/list-filters.ts';
import { type ListSort, listSort } from '../domain/list-sort.ts';
import { checkSeverities, checkTiers, passingStatuses } from '../domain/list-statuses.ts';
import { readServices, readTeams, readTiers } from '../store/list/catalog.ts';
import { isSortable } from '../store/list/custom-steps.ts';
import type { ListQuestion, ResolvedSort } from '../store/list/question.ts';
import type { Tools } from './context.ts';
import { judge } from './replicas.ts';

/** What a list of incidents is asked for, by the names on the wire. */
export type AskedList = ListQuery &
  Parameters<typeof listSort>[0] & {
    custom_filter?: readonly string[] | undefined;
  };

/** The archived incidents have an order of their own, which no sort changes. */
export interface AskedOf {
  workspace: WorkspaceContext;
  archived: boolean;
  now: Instant;
}

/**
 * Makes a question of what was asked: checks it, and fetches what answering takes (contract: Incident lists). The replicas
 * are brought up to date where filters or sort look into them, and only there.
 * @returns besides, what cursors are bound to
 * @throws DomainError `invalid_request` or `unknown_field` naming the parameter
 */
export async function listQuestion(
  tools: Tools,
  asked: AskedList,
  { workspace, archived, now }: AskedOf,
): Promise<{ question: ListQuestion; sort: ListSort; scope: unknown }> {
  const { database } = tools;
  const filters = listFilters(asked, workspace.reporting_currency);
  const sort = listSort(asked);
  const configuration = await tools.configurations.get(workspace);
  const statuses = passingStatuses(filters, configuration.statuses);
  checkSeverities(filters, configuration.severities);

  const byTier = filters.serviceTiers.length > 0;
  const byTeamName = sort.key === 'team' && !archived;
  const byOwner = filters.effectiveTeams.length > 0 || byTeamName;
  const byField = (asked.custom_filter ?? []).length > 0 || sort.key === 'custom';
  const standing = await tools.replicas.refresh(
    workspace,
    ...(byTier || byOwner ? (['catalog'] as const) : []),
    ...(byField ? (['custom_field'] as const) : []),
  );
  if (byTier) {
    const tiers = await readTiers(database, workspace.id);
    await judge(standing, 'catalog', () => checkTiers(filters, tiers));
  }
  const fields = byField ? await tools.fields.get(workspace.id, standing.get('custom_field')) : undefined;
  const [custom, resolved] = await judge(standing, 'custom_field', () => [
    fields === undefined ? [] : customPredicates(asked.custom_filter ?? [], fields),
    resolve(sort, fields),
  ]);

  return {
    sort,
    scope: { filters, custom, sort },
    question: {
      workspaceId: workspace.id,
      archived,
      filters,
      custom,
      sort: archived ? { key: 'archived_at', direction: sort.direction } : resolved,
      configuration,
      statuses,
      services: byTier || byOwner ? await readServices(database, workspace.id) : [],
      teams: byTeamName ? await readTeams(database, workspace.id) : [],
      conversions: conversions(workspace.reporting_currency, configuration.exchangeRates),
      visibleFrom: visibleFrom(workspace.history_days, now),
    },
  };
}

/** @throws DomainError `invalid_request` for a field that is not there, archived, or of no order */
function resolve({ key, direction, field: slug }: ListSort, fields: Fields | undefined): ResolvedSort {
  if (key !== 'custom') return { key, direction };
  const field: CustomFieldDefinition | undefined = fields?.findBySlug(slug ?? '');
  if (field?.archived_at !== null) throw invalid('sort_custom_field', 'Must be the slug of an active custom field');
  if (!isSortable(field.field_type)) {
    throw invalid('sort_custom_field', `A ${field.field_type} field has no order`);
  }
  return { key, direction, field };
}
