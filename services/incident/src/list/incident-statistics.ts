import { invalidRequest } from '@tocsin/http';
import { type Instant, knownTimeZone } from '@tocsin/runtime';
import { type Bucket, bucketStarts } from './domain/statistics-span.ts';
import type { RetryDependencies } from '../incidents/run-command.ts';
import { type QueryRequest, resolveQuery } from './resolve-query.ts';
import { isComparable } from './store/matching.ts';
import { prefilterByRevenue, prefilterByValues } from './store/prefilter.ts';
import { type BucketCount, countByBucket, type DurationRow, readDurations } from './store/statistics.ts';

export interface IncidentStatistics {
  /** In which the buckets begin. */
  timeZone: string;
  starts: readonly Instant[];
  counts: readonly BucketCount[];
  durations: readonly DurationRow[];
}

/**
 * Counts and measures the incidents of a list (contract: Incident statistics).
 * @throws DomainError `invalid_request` or `unknown_field` naming the parameter
 */
export async function incidentStatistics(
  dependencies: RetryDependencies,
  request: Omit<QueryRequest, 'archived'> & { bucket: Bucket },
): Promise<IncidentStatistics> {
  const { database } = dependencies;
  const resolved = await resolveQuery(dependencies, { ...request, archived: false });
  const { created, text } = resolved.filters;
  const timeZone = knownTimeZone(resolved.configuration.timeZone);
  const starts = bucketStarts(created, { bucket: request.bucket, timeZone }, request.now);
  const [first] = starts;
  if (first === undefined) return { timeZone, starts, counts: [], durations: [] };
  const filters = { ...resolved.filters, created: { ...created, from: created.from ?? first } };
  const query = await prefilterByValues(database, await prefilterByRevenue(database, { ...resolved, filters }));
  if (!(await isComparable(database, query))) {
    const field = text === null ? 'custom_filter' : 'q';
    throw invalidRequest(field, 'Must be longer, or other filters must select less: more than 32 MiB to compare');
  }
  const [counts, durations] = await Promise.all([
    countByBucket(database, query, starts),
    readDurations(database, query),
  ]);
  return { timeZone, starts, counts, durations };
}
