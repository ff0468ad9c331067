import { DomainError, type ErrorCode, unavailable } from '@tocsin/http';
import { ChatError, type ChatFault } from '../clients/chat.ts';
import type { Setback } from '../domain/provisioning.ts';

/** The API's word for each fault of a chat. */
const CODES: Record<ChatFault, ErrorCode> = {
  not_connected: 'slack_not_configured',
  channel_missing: 'slack_channel_not_found',
  name_taken: 'slack_channel_name_taken',
  invalid_name: 'invalid_slack_channel_name_request',
  rate_limited: 'rate_limited',
  unavailable: 'service_unavailable',
  refused: 'internal',
};

const MESSAGES: Partial<Record<ChatFault, string>> = {
  not_connected: 'The chat does not accept the workspace’s connection',
  channel_missing: 'The incident’s channel cannot be found, or is closed to the connection',
  name_taken: 'Another channel has this name',
};

export const channelMissing = () =>
  new DomainError('incident_slack_channel_missing', 'The incident has no linked channel');

export const notConfigured = () => new DomainError('slack_not_configured', 'The workspace has no chat connection');

/** What a client is told when the chat did not do what the request needs; anything but a fault of the chat stays what it is. */
export function toDomainFault(error: unknown): unknown {
  if (!(error instanceof ChatError)) return error;
  const { fault, retryAfter } = error;
  const message = MESSAGES[fault];
  if (message !== undefined) return new DomainError(CODES[fault], message);
  if (fault === 'invalid_name') {
    return new DomainError(CODES[fault], 'The chat does not take this name', { field: 'name' });
  }
  return unavailable('The chat does not answer as it should', retryAfter);
}

/** What an attempt in the background is to make of an error. */
export function toSetback(error: unknown): Setback {
  if (error instanceof DomainError) return { errorCode: error.code, passing: false };
  // A fault of ours, or of our database: another attempt may meet better times.
  if (!(error instanceof ChatError)) return { errorCode: 'internal', passing: true };
  const { fault, retryAfter } = error;
  const passing = fault === 'unavailable' || fault === 'rate_limited';
  return { errorCode: CODES[fault], passing, ...(fault === 'rate_limited' && { retryAfter: retryAfter ?? 1 }) };
}
