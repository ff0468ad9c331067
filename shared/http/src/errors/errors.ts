/**
 * `errors` is how requests are refused (contract: Errors). A `DomainError` has a code with its status, a message for
 * people, and the field and details for programs. Any other error is a failure of the database or a bug, and becomes
 * one in `api`. `messages.ts` says failures of schemas in the words of the contract, and `near-name.ts` finds the name
 * that was probably meant. The client does not get the cause of an error, which is for the log. `refusals.ts` counts
 * what limits and overload refuse, in a metric without names of tenants, and in at most one log line a minute, which
 * names the workspace with most. `malformed-request.ts` answers bytes that are no request in the same form.
 */

/**
 * Every error code of the API and its HTTP status (contract: Errors). Codes are stable; messages are for people and may
 * change.
 */
export const ERROR_STATUS = {
  authentication_required: 401,
  cursor_expired: 410,
  duplicate_slug: 409,
  idempotency_in_progress: 409,
  idempotency_key_reused: 409,
  idempotency_outcome_unknown: 409,
  incident_slack_channel_missing: 409,
  internal: 500,
  invalid_idempotency_key: 400,
  invalid_json: 400,
  invalid_precondition: 400,
  invalid_relationship_state: 409,
  invalid_request: 400,
  invalid_resource_state: 409,
  invalid_slack_channel_name_request: 400,
  method_not_allowed: 405,
  missing_role_permission: 403,
  missing_scope: 403,
  multiple_json_values: 400,
  not_found: 404,
  permission_denied: 403,
  precondition_failed: 412,
  precondition_required: 428,
  rate_limited: 429,
  request_body_too_large: 413,
  responder_seat_required: 403,
  service_unavailable: 503,
  slack_channel_name_taken: 409,
  slack_channel_not_found: 409,
  slack_not_configured: 409,
  unknown_field: 400,
  unsupported_media_type: 415,
  webhook_verification_failed: 409,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

export interface ErrorOptions {
  /** Another status than that of the code. */
  status?: number | undefined;
  /** The invalid property (dotted, with indexes), query parameter, path parameter or header. */
  field?: string | undefined;
  details?: Record<string, unknown> | undefined;
  headers?: Record<string, string> | undefined;
  /** Why a limit refused the request, as metrics name it: `requests_in_flight`. It is not sent. */
  reason?: string | undefined;
  /** The error that it stands for. The log has it, and the client does not get it. */
  cause?: unknown;
}

/** An error that is sent to the client. Any other error becomes `internal`. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;
  readonly reason: string | undefined;
  readonly status: number;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.field = options.field;
    this.details = options.details;
    this.headers = options.headers ?? {};
    this.reason = options.reason;
    this.status = options.status ?? ERROR_STATUS[code];
  }
}

/** The JSON body of an error response; `field` and `details` are omitted if undefined. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  field?: string;
  details?: Record<string, unknown>;
  request_id: string;
}

/** Longer names of properties, which the client made up, are cut. */
const MAX_FIELD_LENGTH = 256;

const shortened = (field: string) =>
  field.length > MAX_FIELD_LENGTH ? `${field.slice(0, MAX_FIELD_LENGTH - 1).toWellFormed()}…` : field;

export function errorBody(error: DomainError, requestId: string): ErrorBody {
  return {
    code: error.code,
    message: error.message,
    ...(error.field !== undefined && { field: shortened(error.field) }),
    ...(error.details !== undefined && { details: error.details }),
    request_id: requestId,
  };
}

/** 400: input that is invalid or missing. */
export const invalidRequest = (field: string, message: string) =>
  new DomainError('invalid_request', message, { field });

/** 404: the resource does not exist, or the caller must not know that it does. */
export const notFound = (resource: string) => new DomainError('not_found', `${resource} does not exist`);

/** 409: the resource's state does not allow the operation. */
export const invalidState = (message: string) => new DomainError('invalid_resource_state', message);

/**
 * 429: the workspace uses all of its share of a resource; the client may retry after `seconds`. `details.limit` is the
 * reason, so that a program can tell one limit from another.
 */
export const shareExceeded = (message: string, { reason, seconds = 1 }: { reason: string; seconds?: number }) =>
  new DomainError('rate_limited', message, {
    reason,
    details: { limit: reason, retry_after_seconds: seconds },
    headers: { 'Retry-After': String(seconds) },
  });

/** 503: a dependency is unavailable; the client may retry after `seconds`. */
export const serviceUnavailable = (
  message: string,
  { seconds = 1, cause }: { seconds?: number | undefined; cause?: unknown } = {},
) => new DomainError('service_unavailable', message, { headers: { 'Retry-After': String(seconds) }, cause });

/** 503 of a write without a promise that nothing has changed (contract: Errors). */
export const outcomeUnknown = (message: string, reason?: string) =>
  new DomainError(
    'service_unavailable',
    `${message}: the change may have been made or not; read the resource before you write again, unless the request ` +
      'has an idempotency key',
    { details: { outcome: 'unknown' }, headers: { 'Retry-After': '1' }, ...(reason !== undefined && { reason }) },
  );
