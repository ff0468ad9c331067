import { instant } from '@tocsin/contracts';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { BUCKETS, DEFAULT_BUCKETS, MAX_BUCKETS } from '../domain/statistics-span.ts';
import { MAX_GROUPS, MAX_MEASURED } from '../store/statistics.ts';
import { listQuery } from './wire.ts';

/** The query parameters of statistics: the filters of lists, and the size of the buckets. */
export const statisticsQuery = listQuery
  .omit({ limit: true, cursor: true, sort: true, direction: true, sort_custom_field: true, include_counts: true })
  .extend({
    created_from: listQuery.shape.created_from.meta({
      description: `Incidents created then or later, at most ${MAX_BUCKETS} buckets before the end of the span; default: the start of the ${DEFAULT_BUCKETS} last buckets`,
    }),
    bucket: z
      .enum(BUCKETS)
      .optional()
      .meta({ description: 'What to count by, in UTC; weeks start on Monday; default: day', default: 'day' }),
  });

const count = z.int().min(0);

const durations = z
  .strictObject({
    incidents: count.meta({ description: 'Number of incidents of which the duration is known' }),
    median_seconds: count.meta({ description: 'Half of the durations are at most so long' }),
    p90_seconds: count.meta({ description: 'Nine tenths of the durations are at most so long' }),
  })
  .nullable()
  .meta({ id: 'IncidentDurations', description: 'Durations of incidents in whole seconds; null: none is known' });

const measures = {
  time_to_response: durations.meta({
    description: 'From the duration_anchor of an incident to first_responded_at; null: none is known',
  }),
  time_to_recovery: durations.meta({
    description:
      'From the duration_anchor of an incident to recovered_at or, without it, to the change into a terminal status; null: none is known',
  }),
};

const statistics = z
  .strictObject({
    bucket: z.enum(BUCKETS).meta({ description: 'The size of the buckets' }),
    buckets: z
      .array(
        z.strictObject({
          starts_at: instant.meta({ description: 'When the bucket starts, in UTC' }),
          incidents: count.meta({ description: 'Number of incidents created in the bucket' }),
          by_severity: z
            .record(z.string(), count)
            .meta({ description: 'The same by severity; a severity without incidents is absent' }),
        }),
      )
      .meta({ description: 'All buckets of the span, the earliest one first' }),
    by_service: z
      .array(
        z.strictObject({
          service: z.string().meta({ description: 'Value of service of the incidents; empty: none' }),
          ...measures,
        }),
      )
      .meta({
        description: `Durations of the latest ${MAX_MEASURED} incidents by service, for the ${MAX_GROUPS} services with the most of them`,
      }),
    by_team: z
      .array(
        z.strictObject({
          team_id: z.int().nullable().meta({ description: 'ID of the team that owns the incidents; null: none' }),
          ...measures,
        }),
      )
      .meta({
        description: `Durations of the latest ${MAX_MEASURED} incidents by team, for the ${MAX_GROUPS} teams with the most of them`,
      }),
  })
  .meta({ id: 'IncidentStatistics', description: 'Numbers and durations of the incidents of a span' });

export const statisticsReply = z.strictObject({
  statistics: schemaReference(statistics, 'The numbers and durations'),
});
