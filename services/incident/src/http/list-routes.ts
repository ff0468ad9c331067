import { type Cursors, DEFAULT_LIMIT, paginate, route } from '@tocsin/http';
import { mrrProjection } from '../domain/exchange.ts';
import { statusCounts } from '../domain/list-statuses.ts';
import { narrowMrr } from '../store/list/narrow.ts';
import { readCounts } from '../store/list/read-counts.ts';
import { readPage } from '../store/list/read-page.ts';
import { mrrCurrencies } from '../store/mrr-currencies.ts';
import type { Tools } from '../usecases/context.ts';
import { listQuestion } from '../usecases/list-question.ts';
import { placeOf, positionOf } from './list-cursors.ts';
import { collectionCountsView, mrrView } from './list-views.ts';
import { listQuery, listReply } from './list-wire.ts';
import { incidentView } from './views.ts';

export function listRoutes({ tools, cursors }: { tools: Tools; cursors: Cursors }) {
  return [
    listRoute({ tools, cursors, archived: false, path: '/api/v1/incidents', id: 'listIncidents' }),
    listRoute({ tools, cursors, archived: true, path: '/api/v1/incidents/archived', id: 'listArchivedIncidents' }),
  ];
}

interface ListParts {
  tools: Tools;
  cursors: Cursors;
  archived: boolean;
  path: string;
  id: string;
}

function listRoute({ tools, cursors, archived, path, id }: ListParts) {
  const { database, clock } = tools;
  return route({
    id,
    method: 'get',
    path,
    summary: archived ? 'Archived incidents, the last archived first' : 'Active incidents, newest first unless sorted',
    tag: 'Incidents',
    scope: 'incidents:read',
    query: listQuery,
    reply: { status: 200, body: listReply },
    handle: async ({ principal: { workspace }, query }) => {
      const { limit = DEFAULT_LIMIT, cursor, include_counts: wantsCounts = false, ...asked } = query;
      const now = clock.now();
      const { question, sort, scope: filters } = await listQuestion(tools, asked, { workspace, archived, now });
      const scope = { workspaceId: workspace.id, path, filters };
      const after = cursor === undefined ? undefined : placeOf(cursor, { cursors, scope, question, sort });

      const { configuration, statuses: passing } = question;
      const narrowed = await narrowMrr(database, question);
      const [listed, { restricted, byStatus: counted }, seen] = await Promise.all([
        readPage(database, narrowed, { after, limit: limit + 1 }),
        readCounts(database, narrowed, { byStatus: wantsCounts }),
        configuration.exchangeRates.size === 0 ? [] : mrrCurrencies(database, workspace.id).list(),
      ]);
      const { page, pagination } = paginate({
        rows: listed,
        limit,
        nextCursor: ({ place }) => cursors.encode(positionOf(place), scope),
      });
      const { has_more, next_cursor } = pagination;
      return {
        body: {
          incidents: page.map(({ incident }) => incidentView(incident, now)),
          pagination,
          has_more,
          ...(next_cursor !== undefined && { next_cursor }),
          restricted_count: restricted,
          history_limited: question.visibleFrom !== null,
          ...mrrView(
            mrrProjection({
              reportingCurrency: workspace.reporting_currency,
              rates: configuration.exchangeRates,
              seen,
              now,
            }),
          ),
          ...(counted !== undefined && {
            collection_counts: collectionCountsView(
              statusCounts({ counted, passing, configured: configuration.statuses }),
            ),
          }),
        },
      };
    },
  });
}
