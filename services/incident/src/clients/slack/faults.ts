import { WebAPIPlatformError, WebAPIRequestError } from '@slack/web-api';
import { ChatError, type ChatFault } from '../chat.ts';

/** What Slack's errors mean to us. One that is not here counts as `refused`. */
const CODES: Record<Exclude<ChatFault, 'refused'>, readonly string[]> = {
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
    // A setting of the workspace, or the kind of user that the token belongs to, forbids it.
    'permission_denied',
    'restricted_action',
    'is_bot',
    'user_is_bot',
    'user_is_restricted',
    'user_is_ultra_restricted',
  ],
  channel_missing: [
    'channel_not_found',
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

const FAULTS = new Map(
  Object.entries(CODES).flatMap(([fault, codes]) => codes.map((code) => [code, fault as ChatFault] as const)),
);

export const faultOf = (code: string): ChatFault => FAULTS.get(code) ?? 'refused';

const LONGEST_WAIT = 86_400;

/** @param retryAfter of the answer, in seconds; what is missing or makes no sense counts as one second */
export function rateLimited(retryAfter: unknown): ChatError {
  const seconds = Number(retryAfter);
  const isSound = Number.isInteger(seconds) && seconds >= 1 && seconds <= LONGEST_WAIT;
  return new ChatError('rate_limited', 'Slack takes no more calls for now', { retryAfter: isSound ? seconds : 1 });
}

/** Whatever came of a call, as the port's error. */
export function asChatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  // So the library wraps what our transport throws.
  if (error instanceof WebAPIRequestError && error.original instanceof ChatError) return error.original;
  if (error instanceof WebAPIPlatformError) {
    const { error: code, response_metadata: metadata } = error.data;
    const fault = faultOf(code);
    return fault === 'rate_limited' ? rateLimited(metadata?.retryAfter) : new ChatError(fault, `Slack says ${code}`);
  }
  return new ChatError('unavailable', 'Slack’s answer cannot be understood', { cause: error });
}
