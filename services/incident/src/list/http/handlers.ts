import { type Cursors, DEFAULT_LIMIT } from '@tocsin/http';
import type { z } from 'zod';
import type { CommandDependencies } from '../../incidents/run-command.ts';
import { type IncidentList, listIncidents } from '../list-incidents.ts';
import { incidentStatistics, type IncidentStatistics } from '../incident-statistics.ts';
import { type ListApi, listContracts } from './contracts.ts';
import type { RenderedIncidents } from '../../incidents/http/rendered-incidents.ts';
import type { Bucket } from '../domain/statistics-span.ts';
import type { DurationRow } from '../store/statistics.ts';
import type { durations, statisticsReply } from './wire.ts';

interface ListDependencies extends CommandDependencies {
  cursors: Cursors;
  rendered: RenderedIncidents;
}

/** Both lists take the same parameters and return the same kind of page. */
export function listHandlers(dependencies: ListDependencies): ListApi {
  const { clock } = dependencies;
  return {
    async getIncidentStatistics({ principal: { workspace }, query: { bucket = 'day', ...parameters } }) {
      const request = { workspace, parameters, bucket, now: clock.now() };
      return { body: statisticsView(bucket, await incidentStatistics(dependencies, request)) };
    },
    listIncidents: listHandler(dependencies, { archived: false, path: listContracts.listIncidents.path }),
    listArchivedIncidents: listHandler(dependencies, {
      archived: true,
      path: listContracts.listArchivedIncidents.path,
    }),
  };
}

const listHandler =
  (dependencies: ListDependencies, list: { archived: boolean; path: string }): ListApi['listIncidents'] =>
  async ({ principal: { workspace }, query }) => {
    const { limit = DEFAULT_LIMIT, cursor, include_counts: includeCounts = false, ...parameters } = query;
    const { clock, rendered } = dependencies;
    const now = clock.now();
    const { page, ...properties } = await listIncidents(
      { ...dependencies, findRendered: rendered.find },
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
        ...listProperties(properties),
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

function statisticsView(
  bucket: Bucket,
  { timeZone, starts, counts, durations }: IncidentStatistics,
): z.output<typeof statisticsReply> {
  const byBucket = Map.groupBy(counts, (each) => each.bucket);
  return {
    statistics: {
      bucket,
      time_zone: timeZone,
      buckets: starts.map((start, index) => {
        const counted = byBucket.get(index + 1) ?? [];
        return {
          starts_at: start,
          incidents: counted.reduce((sum, { incidents }) => sum + incidents, 0),
          by_severity: Object.fromEntries(counted.map(({ severity, incidents }) => [severity, incidents])),
        };
      }),
      by_service: durations.flatMap((row) =>
        row.kind === 'service' && row.service !== null ? [{ service: row.service, ...measures(row) }] : [],
      ),
      by_team: durations.flatMap((row) => (row.kind === 'team' ? [{ team_id: row.teamId, ...measures(row) }] : [])),
      all: measures(durations.find(({ kind }) => kind === 'all')),
    },
  };
}

/** @param row undefined: there are no incidents */
const measures = (row: DurationRow | undefined) => ({
  time_to_response: averages(row && [row.responses, row.derivedResponses], row?.response),
  time_to_recovery: averages(row && [row.recoveries, row.derivedRecoveries], row?.recovery),
});

function averages(
  [incidents, derived]: [number, number] = [0, 0],
  values: [number, number, number] | null = null,
): z.output<typeof durations> {
  if (values === null) return null;
  const [median, p90, mean] = values.map(Math.floor) as typeof values;
  return { incidents, derived, median_seconds: median, p90_seconds: p90, mean_seconds: mean };
}
