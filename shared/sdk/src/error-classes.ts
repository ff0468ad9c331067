// Generated from shared/http/src/errors/errors.ts by npm run generate. Do not edit.
import { TocsinError } from './errors.ts';

export class AuthenticationRequiredError extends TocsinError {
  declare readonly code: 'authentication_required';
}
export class CursorExpiredError extends TocsinError {
  declare readonly code: 'cursor_expired';
}
export class DuplicateSlugError extends TocsinError {
  declare readonly code: 'duplicate_slug';
}
export class IdempotencyInProgressError extends TocsinError {
  declare readonly code: 'idempotency_in_progress';
}
export class IdempotencyKeyReusedError extends TocsinError {
  declare readonly code: 'idempotency_key_reused';
}
export class IdempotencyOutcomeUnknownError extends TocsinError {
  declare readonly code: 'idempotency_outcome_unknown';
}
export class IncidentSlackChannelMissingError extends TocsinError {
  declare readonly code: 'incident_slack_channel_missing';
}
export class InternalError extends TocsinError {
  declare readonly code: 'internal';
}
export class InvalidIdempotencyKeyError extends TocsinError {
  declare readonly code: 'invalid_idempotency_key';
}
export class InvalidJsonError extends TocsinError {
  declare readonly code: 'invalid_json';
}
export class InvalidPreconditionError extends TocsinError {
  declare readonly code: 'invalid_precondition';
}
export class InvalidRelationshipStateError extends TocsinError {
  declare readonly code: 'invalid_relationship_state';
}
export class InvalidRequestError extends TocsinError {
  declare readonly code: 'invalid_request';
}
export class InvalidResourceStateError extends TocsinError {
  declare readonly code: 'invalid_resource_state';
}
export class InvalidSlackChannelNameRequestError extends TocsinError {
  declare readonly code: 'invalid_slack_channel_name_request';
}
export class MethodNotAllowedError extends TocsinError {
  declare readonly code: 'method_not_allowed';
}
export class MissingRolePermissionError extends TocsinError {
  declare readonly code: 'missing_role_permission';
}
export class MissingScopeError extends TocsinError {
  declare readonly code: 'missing_scope';
}
export class MultipleJsonValuesError extends TocsinError {
  declare readonly code: 'multiple_json_values';
}
export class NotFoundError extends TocsinError {
  declare readonly code: 'not_found';
}
export class PermissionDeniedError extends TocsinError {
  declare readonly code: 'permission_denied';
}
export class PreconditionFailedError extends TocsinError {
  declare readonly code: 'precondition_failed';
}
export class PreconditionRequiredError extends TocsinError {
  declare readonly code: 'precondition_required';
}
export class RateLimitedError extends TocsinError {
  declare readonly code: 'rate_limited';
}
export class RequestBodyTooLargeError extends TocsinError {
  declare readonly code: 'request_body_too_large';
}
export class ResponderSeatRequiredError extends TocsinError {
  declare readonly code: 'responder_seat_required';
}
export class ServiceUnavailableError extends TocsinError {
  declare readonly code: 'service_unavailable';
}
export class SlackChannelNameTakenError extends TocsinError {
  declare readonly code: 'slack_channel_name_taken';
}
export class SlackChannelNotFoundError extends TocsinError {
  declare readonly code: 'slack_channel_not_found';
}
export class SlackNotConfiguredError extends TocsinError {
  declare readonly code: 'slack_not_configured';
}
export class UnknownFieldError extends TocsinError {
  declare readonly code: 'unknown_field';
}
export class UnsupportedMediaTypeError extends TocsinError {
  declare readonly code: 'unsupported_media_type';
}
export class WebhookVerificationFailedError extends TocsinError {
  declare readonly code: 'webhook_verification_failed';
}

/** The class of the errors with a code. */
export const ERROR_CLASSES = {
  authentication_required: AuthenticationRequiredError,
  cursor_expired: CursorExpiredError,
  duplicate_slug: DuplicateSlugError,
  idempotency_in_progress: IdempotencyInProgressError,
  idempotency_key_reused: IdempotencyKeyReusedError,
  idempotency_outcome_unknown: IdempotencyOutcomeUnknownError,
  incident_slack_channel_missing: IncidentSlackChannelMissingError,
  internal: InternalError,
  invalid_idempotency_key: InvalidIdempotencyKeyError,
  invalid_json: InvalidJsonError,
  invalid_precondition: InvalidPreconditionError,
  invalid_relationship_state: InvalidRelationshipStateError,
  invalid_request: InvalidRequestError,
  invalid_resource_state: InvalidResourceStateError,
  invalid_slack_channel_name_request: InvalidSlackChannelNameRequestError,
  method_not_allowed: MethodNotAllowedError,
  missing_role_permission: MissingRolePermissionError,
  missing_scope: MissingScopeError,
  multiple_json_values: MultipleJsonValuesError,
  not_found: NotFoundError,
  permission_denied: PermissionDeniedError,
  precondition_failed: PreconditionFailedError,
  precondition_required: PreconditionRequiredError,
  rate_limited: RateLimitedError,
  request_body_too_large: RequestBodyTooLargeError,
  responder_seat_required: ResponderSeatRequiredError,
  service_unavailable: ServiceUnavailableError,
  slack_channel_name_taken: SlackChannelNameTakenError,
  slack_channel_not_found: SlackChannelNotFoundError,
  slack_not_configured: SlackNotConfiguredError,
  unknown_field: UnknownFieldError,
  unsupported_media_type: UnsupportedMediaTypeError,
  webhook_verification_failed: WebhookVerificationFailedError,
} as const;
