import type { ErrorCode } from '@tocsin/http';

/** What the API description says about an error code: when it occurs, and an example of its body. */
interface ErrorDocumentation {
  /** One sentence for users of the API. */
  when: string;
  message: string;
  field?: string;
  details?: Record<string, unknown>;
}

/** contract: Errors */
export const ERROR_DOCUMENTATION: Readonly<Record<ErrorCode, ErrorDocumentation>> = {
  authentication_required: {
    when: 'The request has no valid token of this workspace.',
    message: 'Send a valid API token of this workspace',
  },
  cursor_expired: {
    when: 'Events behind the cursor are deleted, or the database was restored. Take a new cursor with `from=now`, read the lists, and continue with the cursor.',
    message: 'The cursor is too old; take a new one with from=now, read the lists, and continue with the cursor',
    field: 'after',
  },
  duplicate_slug: {
    when: 'Another resource of the workspace has the slug; archived resources keep theirs.',
    message: 'Another service has or had the slug checkout_api',
    field: 'slug',
  },
  idempotency_in_progress: {
    when: 'The first request with this idempotency key is still running. Send the request again after `Retry-After`.',
    message: 'A request with this idempotency key is in progress',
    field: 'Idempotency-Key',
  },
  idempotency_key_reused: {
    when: 'The idempotency key was used with another body.',
    message: 'The key was already used with a different request',
    field: 'Idempotency-Key',
  },
  idempotency_outcome_unknown: {
    when: 'The server stopped before it stored the outcome of the first request. Read the resource before you decide what to do.',
    message: 'The outcome of the earlier request is unknown; read the resource before you retry',
    field: 'Idempotency-Key',
  },
  incident_slack_channel_missing: {
    when: 'No channel is linked to the incident.',
    message: 'The incident has no linked channel',
  },
  internal: {
    when: 'An error in Tocsin. The server log has its cause under the request ID.',
    message: 'An unexpected error occurred; the server log has its cause under the request ID',
  },
  invalid_idempotency_key: {
    when: 'The idempotency key is not 1 to 128 visible ASCII characters.',
    message: 'Idempotency-Key must be 1 to 128 visible ASCII characters',
    field: 'Idempotency-Key',
  },
  invalid_json: {
    when: 'The body is not a JSON document in UTF-8.',
    message: 'The body is not a valid JSON document',
  },
  invalid_precondition: {
    when: '`If-Service-Resource-Version` is not a positive integer in plain digits.',
    message: 'If-Service-Resource-Version must be a positive integer',
    field: 'If-Service-Resource-Version',
  },
  invalid_relationship_state: {
    when: 'The team that the resource belongs to is archived and must be restored first.',
    message: 'The team that it belongs to must be restored first',
    field: 'owner_team_id',
  },
  invalid_request: {
    when: '`field` is missing or invalid; `message` says what it must be.',
    message: 'Must be an active team',
    field: 'team_id',
  },
  invalid_resource_state: {
    when: 'The state of the resource does not allow the operation, for example because it is archived.',
    message: 'The incident is archived',
  },
  invalid_slack_channel_name_request: {
    when: 'The body does not describe a channel name.',
    message: 'Is required with mode=custom',
    field: 'name',
  },
  method_not_allowed: {
    when: 'The path does not allow the method; `Allow` lists those that it does.',
    message: 'The path does not allow PUT',
  },
  missing_role_permission: {
    when: "The role of the token's owner lacks a permission.",
    message: "The role of the token's owner lacks manage_settings",
    details: { required_permission: 'manage_settings' },
  },
  missing_scope: {
    when: 'The token lacks the scope of the operation.',
    message: 'The token lacks the scope incidents:write',
    details: { required_scope: 'incidents:write' },
  },
  multiple_json_values: {
    when: 'The body has several JSON documents.',
    message: 'The body must be one JSON document, not several',
  },
  not_found: {
    when: 'The resource does not exist in the workspace, or no workspace has this host.',
    message: 'The incident does not exist',
  },
  permission_denied: {
    when: "The token's owner may not do this.",
    message: "The token's owner may not do this",
  },
  precondition_failed: {
    when: 'The resource has changed since the revision that the request names. Read it again.',
    message: 'The resource is at revision 4, not 3',
    field: 'If-Service-Resource-Version',
    details: { current_revision: 4 },
  },
  precondition_required: {
    when: '`If-Service-Resource-Version` is missing.',
    message: 'If-Service-Resource-Version is required: send the revision that you read',
    field: 'If-Service-Resource-Version',
  },
  rate_limited: {
    when: 'A limit is used up. Send the request again after `Retry-After`.',
    message: 'More than 1200 requests in a minute',
    details: { retry_after_seconds: 12 },
  },
  request_body_too_large: {
    when: 'The body is larger than 1 MiB.',
    message: 'The body must be at most 1048576 bytes',
  },
  responder_seat_required: {
    when: "The token's owner has no responder seat.",
    message: "The token's owner has no responder seat",
    details: { required_seat: 'responder' },
  },
  service_unavailable: {
    when: 'A component that the request needs cannot serve it now. Send it again after `Retry-After`.',
    message: 'The incident service does not respond',
  },
  slack_channel_name_taken: {
    when: 'Another channel has the name.',
    message: 'Another channel has the name inc-42-checkout',
  },
  slack_channel_not_found: {
    when: 'Slack has no such channel, or the connection cannot see it.',
    message: 'The channel does not exist, or the connection cannot see it',
  },
  slack_not_configured: {
    when: 'The workspace has no connection to Slack, or Slack does not accept it.',
    message: 'The workspace has no chat connection',
  },
  unknown_field: {
    when: '`field` is not a property of the request.',
    message: 'Is not a known property; did you mean title?',
    field: 'titel',
  },
  unsupported_media_type: {
    when: 'The body is not uncompressed `application/json` in UTF-8.',
    message: 'The body must be application/json in UTF-8, without a content encoding',
    field: 'Content-Type',
  },
  webhook_verification_failed: {
    when: 'The receiver did not answer the signed request with a 2xx status.',
    message: 'The receiver did not pass the verification',
    details: { reason: 'status', status_code: 500 },
  },
};
