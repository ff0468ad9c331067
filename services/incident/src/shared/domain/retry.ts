/**
 * `shared` has what several rooms use and none owns: this `Retry`, time zones, the order of texts, legacy cursors, and
 * parts of SQL. Whoever finds that something was checked against what may be out of date, the configuration for
 * instance, throws a `Retry`. `withRetries` in `incidents` reads that again and repeats the whole work, so the work
 * must have had no effect by then: a transaction that throws is rolled back. Texts are ordered by code points, as the
 * database orders them. A stored time zone that this version of Node does not know counts as UTC (contract:
 * Configuration). `store/table-statistics.ts` counts what imports write, so that PostgreSQL plans with the present
 * sizes of tables.
 */

/** What a request was checked against: the configuration, the replica of an owner, or that an external ID is free. */
export type RetryReason = 'configuration' | 'catalog' | 'custom_field' | 'users' | 'external_id';

/** Says that something may be out of date, so that `withRetries` runs the work again. Nothing else catches it. */
export class Retry extends Error {
  readonly reason: RetryReason;

  constructor(reason: RetryReason) {
    super(`a request was checked against what may be out of date: ${reason}`);
    this.reason = reason;
  }
}
