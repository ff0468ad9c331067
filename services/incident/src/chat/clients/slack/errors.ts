import { WebAPIPlatformError, WebAPIRequestError } from '@slack/web-api';
import { entriesOf } from '@tocsin/runtime';
import { ChatError, type ChatFailureReason } from '../chat.ts';

/** Slack's error codes by our reason. An unlisted code means `refused`. */
const CODES_BY_REASON: Record<Exclude<ChatFailureReason, 'refused'>, readonly string[]> = {
  not_connected: [
    'invalid_auth',
    'not_authed',
    'token_revoked',
    'token_expired',
    'account_inactive',
    'missing_scope',
    'no_permission',
    'not_allowed_token_type',
    'access_denied',
    'accesslimited',
    'ekm_access_denied',
    'enterprise_is_restricted',
    'org_login_required',
    'team_access_not_granted',
    'two_factor_setup_required',
    // A setting of the workspace or the kind of the token's user forbids the call.
    'permission_denied',
    'restricted_action',
    'is_bot',
    'user_is_bot',
    'user_is_restricted',
    'user_is_ultra_restricted',
  ],
  channel_missing: [
    'channel_not_found',
    'message_not_found',
    'is_archived',
    'not_in_channel',
    'not_authorized',
    'method_not_supported_for_channel_type',
  ],
  name_taken: ['name_taken'],
  invalid_name: [
    'no_channel',
    'invalid_name',
    'invalid_name_required',
    'invalid_name_punctuation',
    'invalid_name_maxlength',
    'invalid_name_specials',
  ],
  rate_limited: ['ratelimited', 'rate_limited'],
  unavailable: [
    'internal_error',
    'fatal_error',
    'service_unavailable',
    'team_added_to_org',
    'external_channel_migrating',
    'request_timeout',
  ],
};

const REASONS = new Map(
  entriesOf(CODES_BY_REASON).flatMap(([reason, codes]) => codes.map((code) => [code, reason] as const)),
);

export const reasonOf = (code: string): ChatFailureReason => REASONS.get(code) ?? 'refused';

const MAX_RETRY_AFTER = 86_400;

/** @param retryAfter seconds from the response; a missing or invalid value becomes one second */
export function rateLimited(retryAfter: unknown): ChatError {
  const seconds = Number(retryAfter);
  const isValid = Number.isInteger(seconds) && seconds >= 1 && seconds <= MAX_RETRY_AFTER;
  return new ChatError('rate_limited', 'Slack limits the rate of calls', { retryAfter: isValid ? seconds : 1 });
}

/** Converts any error of a call into the port's error. */
export function toChatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  // The library wraps errors of our transport.
  if (error instanceof WebAPIRequestError && error.original instanceof ChatError) return error.original;
  if (error instanceof WebAPIPlatformError) {
    const { error: code, response_metadata: metadata } = error.data;
    const reason = reasonOf(code);
    return reason === 'rate_limited'
      ? rateLimited(metadata?.retryAfter)
      : new ChatError(reason, `Slack returned ${code}`);
  }
  return new ChatError('unavailable', 'Cannot parse Slack’s response', { cause: error });
}
