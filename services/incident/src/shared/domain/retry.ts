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
