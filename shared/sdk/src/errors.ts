export interface ErrorProperties {
  status?: number | undefined;
  field?: string | undefined;
  details?: Readonly<Record<string, unknown>> | undefined;
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  retryable?: boolean | undefined;
  cause?: unknown;
}

/** Any refusal of the API, and any failure to reach it. Each code has a class of its own, see `ERROR_CLASSES`. */
export class TocsinError extends Error {
  /** Stable, for programs. */
  readonly code: string;
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** The invalid property (dotted, with indexes), parameter or header. */
  readonly field: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  /** Identifies the request in the logs of the server. */
  readonly requestId: string | undefined;
  /** Seconds after which the server will accept the request again, if it says so. */
  readonly retryAfter: number | undefined;
  /** Whether the same call may be made again without a second effect, with the same idempotency key. */
  readonly retryable: boolean;

  constructor(code: string, message: string, properties: ErrorProperties = {}) {
    super(message, { cause: properties.cause });
    this.name = new.target.name;
    this.code = code;
    this.status = properties.status;
    this.field = properties.field;
    this.details = properties.details ?? {};
    this.requestId = properties.requestId;
    this.retryAfter = properties.retryAfter;
    this.retryable = properties.retryable === true;
  }
}

/** There is no complete response: whether a write has happened is unknown. */
export class ConnectionError extends TocsinError {
  declare readonly code: 'connection_lost' | 'timeout';
}

/** A response that is none of the API, such as the page of a proxy. */
export class UnexpectedResponseError extends TocsinError {
  declare readonly code: 'unexpected_response';
}

/** A webhook request that Tocsin has not sent, or that is too old. */
export class WebhookSignatureError extends TocsinError {
  declare readonly code: 'invalid_signature';
}
