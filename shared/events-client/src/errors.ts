/**
 * `connection`: the connection, its channel or the queue is lost, or cannot be set up; the consumer connects again.
 * `broken_message`, `newer_version`: the message is now in the dead-letter queue. `handler_failed`: `handle` has
 * rejected, or was given up; the message is delivered again, or is in the dead-letter queue after its last delivery.
 * `handler_late`: `handle` has not ended within its time; its signal is aborted. `outage`: `isOutage` has recognised the error of
 * `handle`; the consumer pauses.
 */
export type ConsumerErrorCode =
  | 'connection'
  | 'broken_message'
  | 'newer_version'
  | 'handler_failed'
  | 'handler_late'
  | 'outage';

/**
 * What `work` of `Remember` rejects with when the consumer gives a handler up. The handler may still use the transaction,
 * which must not be used for anything else.
 */
export class HandlerGivenUp extends Error {
  override readonly name = 'HandlerGivenUp';
}

/** What `onError` receives. `cause` is the original error. */
export class ConsumerError extends Error {
  override readonly name = 'ConsumerError';
  readonly code: ConsumerErrorCode;
  /** The event's ID and type, if the message has them. */
  readonly event: { id: string | undefined; type: string | undefined } | undefined;
  /** For `handler_failed`: whether this was the last delivery. */
  readonly isFinal: boolean;

  constructor(
    code: ConsumerErrorCode,
    message: string,
    details: {
      cause?: unknown;
      event?: { id?: string | undefined; type?: string | undefined };
      isFinal?: boolean;
    } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.event = details.event === undefined ? undefined : { id: details.event.id, type: details.event.type };
    this.isFinal = details.isFinal ?? false;
  }
}
