import type { Documentation } from '@tocsin/http';
import { CURSOR, incidentExample } from '../../incidents/http/examples.ts';
import type { listContracts } from './contracts.ts';

const list: Pick<Documentation<typeof listContracts>['listIncidents'], 'reply'> = {
  reply: {
    incidents: [incidentExample],
    pagination: { limit: 50, has_more: true, next_cursor: CURSOR },
    has_more: true,
    next_cursor: CURSOR,
    restricted_count: 0,
    history_limited: false,
    mrr_currency: 'USD',
    mrr_conversion_mode: 'normalized',
    mrr_projection_state: 'ready',
    supported_mrr_currencies: ['USD'],
    collection_counts: { matched: 61, all: 240, ongoing: 61, by_status: { open: 12, active: 49, resolved: 179 } },
  },
};

const durations = { incidents: 58, derived: 12, median_seconds: 2_700, p90_seconds: 9_300, mean_seconds: 3_840 };

/** contract: Incident lists, Incident statistics */
export const listOperations: Documentation<typeof listContracts> = {
  listIncidents: {
    description:
      'Returns the incidents that are not archived. The values of one filter are alternatives; different filters must all match. Without `sort`, the newest incident comes first.',
    ...list,
  },
  listArchivedIncidents: {
    description:
      'Returns the archived incidents, ordered by the time of archiving. It takes the same filters as the list of incidents.',
    ...list,
    reply: {
      ...list.reply,
      incidents: [{ ...incidentExample, archived_at: '2026-11-25T10:00:00.000Z', archived_by: 1 }],
    },
  },
  getIncidentStatistics: {
    description:
      'Counts the incidents of a span by bucket and severity, and measures how long response and recovery took. It takes the filters of the list of incidents; archived incidents do not count.',
    reply: {
      statistics: {
        bucket: 'day',
        time_zone: 'UTC',
        buckets: [{ starts_at: '2026-11-20T00:00:00.000Z', incidents: 3, by_severity: { sev2: 1, sev3: 2 } }],
        by_service: [{ service: 'checkout', time_to_response: null, time_to_recovery: durations }],
        by_team: [{ team_id: 1, time_to_response: null, time_to_recovery: durations }],
        all: { time_to_response: null, time_to_recovery: durations },
      },
    },
  },
};
