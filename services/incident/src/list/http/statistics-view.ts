import type { z } from 'zod';
import type { Bucket } from '../domain/statistics-span.ts';
import type { IncidentStatistics } from '../incident-statistics.ts';
import type { DurationRow } from '../store/statistics.ts';
import type { statisticsReply } from './statistics-wire.ts';

export function statisticsView(
  bucket: Bucket,
  { starts, counts, durations }: IncidentStatistics,
): z.output<typeof statisticsReply> {
  const byBucket = Map.groupBy(counts, (each) => each.bucket);
  return {
    statistics: {
      bucket,
      buckets: starts.map((start, index) => {
        const counted = byBucket.get(index + 1) ?? [];
        return {
          starts_at: start,
          incidents: counted.reduce((sum, { incidents }) => sum + incidents, 0),
          by_severity: Object.fromEntries(counted.map(({ severity, incidents }) => [severity, incidents])),
        };
      }),
      by_service: durations.flatMap((row) =>
        row.service === null ? [] : [{ service: row.service, ...measures(row) }],
      ),
      by_team: durations.flatMap((row) => (row.service === null ? [{ team_id: row.teamId, ...measures(row) }] : [])),
    },
  };
}

const measures = ({ responses, response, recoveries, recovery }: DurationRow) => ({
  time_to_response: percentiles(responses, response),
  time_to_recovery: percentiles(recoveries, recovery),
});

const percentiles = (incidents: number, values: [number, number] | null) =>
  values && { incidents, median_seconds: Math.floor(values[0]), p90_seconds: Math.floor(values[1]) };
