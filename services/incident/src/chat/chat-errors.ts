import { DomainError, type ErrorCode, serviceUnavailable } from '@tocsin/http';
import { ChatError, type ChatFailureReason } from './clients/chat.ts';
import type { StepFailure } from './domain/provisioning.ts';

/** The API's error code for each failure reason of a chat. */
const ERROR_CODES: Record<ChatFailureReason, ErrorCode> = {
  not_connected: 'slack_not_configured',
  channel_missing: 'slack_channel_not_found',
  name_taken: 'slack_channel_name_taken',
  invalid_name: 'invalid_slack_channel_name_request',
  rate_limited: 'rate_limited',
  unavailable: 'service_unavailable',
  refused: 'internal',
};

const MESSAGES: Partial<Record<ChatFailureReason, string>> = {
  not_connected: 'The chat rejects the workspace’s connection',
  channel_missing: 'The incident’s channel does not exist or is not accessible to the connection',
  name_taken: 'Another channel has this name',
};

export const channelNotLinked = () =>
  new DomainError('incident_slack_channel_missing', 'The incident has no linked channel');

export const chatNotConfigured = () => new DomainError('slack_not_configured', 'The workspace has no chat connection');

/** Converts a chat error into the API's error; returns any other error unchanged. */
export function toDomainError(error: unknown): unknown {
  if (!(error instanceof ChatError)) return error;
  const { reason, retryAfter } = error;
  const message = MESSAGES[reason];
  if (message !== undefined) return new DomainError(ERROR_CODES[reason], message);
  if (reason === 'invalid_name') {
    return new DomainError(ERROR_CODES[reason], 'The chat does not accept this name', { field: 'name' });
  }
  return serviceUnavailable('The chat is unavailable', retryAfter);
}

/** Converts an error of a provisioning step into the failure that is stored. */
export function toStepFailure(error: unknown): StepFailure {
  if (error instanceof DomainError) return { errorCode: error.code, isTransient: false };
  // An error of this service or its database may be temporary.
  if (!(error instanceof ChatError)) return { errorCode: 'internal', isTransient: true };
  const { reason, retryAfter } = error;
  const isTransient = reason === 'unavailable' || reason === 'rate_limited';
  return {
    errorCode: ERROR_CODES[reason],
    isTransient,
    ...(reason === 'rate_limited' && { retryAfter: retryAfter ?? 1 }),
  };
}
