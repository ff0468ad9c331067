import { type Cursors, DEFAULT_LIMIT } from '@tocsin/http';
import type { Dependencies } from '../../dependencies.ts';
import { type IncidentList, listIncidents } from '../list-incidents.ts';
import { incidentStatistics } from '../incident-statistics.ts';
import { type ListApi, listContracts } from './contracts.ts';
import { statisticsView } from './statistics-view.ts';
import type { RenderedIncidents } from '../../incidents/http/rendered-incidents.ts';

interface ListDependencies {
  dependencies: Dependencies;
  cursors: Cursors;
  rendered: RenderedIncidents;
}

/** Both lists take the same parameters and return the same kind of page. */
export function listHandlers(dependencies: ListDependencies): ListApi {
  const { clock } = dependencies.dependencies;
  return {
    async getIncidentStatistics({ principal: { workspace }, query: { bucket = 'day', ...parameters } }) {
      const request = { workspace, parameters, bucket, now: clock.now() };
      return { body: statisticsView(bucket, await incidentStatistics(dependencies.dependencies, request)) };
    },
    listIncidents: listHandler(dependencies, { archived: false, path: listContracts.listIncidents.path }),
    listArchivedIncidents: listHandler(dependencies, {
      archived: true,
      path: listContracts.listArchivedIncidents.path,
    }),
  };
}

const listHandler =
  (
    { dependencies, cursors, rendered }: ListDependencies,
    list: { archived: boolean; path: string },
  ): ListApi['listIncidents'] =>
  async ({ principal: { workspace }, query }) => {
    const { limit = DEFAULT_LIMIT, cursor, include_counts: includeCounts = false, ...parameters } = query;
    const now = dependencies.clock.now();
    const { page, ...rest } = await listIncidents(
      { ...dependencies, cursors, isRendered: rendered.has },
      { ...list, workspace, parameters, cursor, limit, includeCounts, now, view: (each) => rendered.json(each, now) },
    );
    const { rows, pagination } = page;
    const { has_more, next_cursor } = pagination;
    return {
      body: {
        incidents: rows,
        pagination,
        has_more,
        ...(next_cursor !== undefined && { next_cursor }),
        ...listProperties(rest),
      },
    };
  };

/** The properties of the list that do not depend on the page. */
const listProperties = ({ restrictedCount, isHistoryLimited, mrr, counts }: Omit<IncidentList<unknown>, 'page'>) => ({
  ...(restrictedCount !== undefined && { restricted_count: restrictedCount }),
  history_limited: isHistoryLimited,
  mrr_currency: mrr.currency,
  mrr_conversion_mode: mrr.mode,
  mrr_projection_state: mrr.state,
  supported_mrr_currencies: mrr.supported,
  ...(counts !== undefined && {
    collection_counts: {
      matched: counts.matched,
      all: counts.all,
      ongoing: counts.ongoing,
      by_status: counts.byStatus,
    },
  }),
});
