import { STATUS_CODES } from 'node:http';
import type { Contract } from './contract.ts';
import { DomainError, ERROR_STATUS, type ErrorCode } from '../errors/errors.ts';
import type { Prerequisite } from '@tocsin/schemas';

/** What any operation may respond with, whatever it does. */
const ANY: readonly ErrorCode[] = [
  'invalid_request',
  'authentication_required',
  'missing_scope',
  'not_found',
  'method_not_allowed',
  'rate_limited',
  'internal',
  'service_unavailable',
];

const WITH_BODY: readonly ErrorCode[] = [
  'invalid_json',
  'multiple_json_values',
  'unknown_field',
  'request_body_too_large',
  'unsupported_media_type',
];

const IDEMPOTENT: readonly ErrorCode[] = [
  'invalid_idempotency_key',
  'idempotency_key_reused',
  'idempotency_in_progress',
  'idempotency_outcome_unknown',
];

const PRECONDITION: readonly ErrorCode[] = ['invalid_precondition', 'precondition_required', 'precondition_failed'];

const NEEDS: Readonly<Record<Prerequisite, readonly ErrorCode[]>> = {
  active_responder: ['responder_seat_required'],
  manage_settings: ['missing_role_permission'],
  manage_teams: ['missing_role_permission'],
  view_restricted: ['missing_role_permission'],
  delete_permanently: ['missing_role_permission'],
  mutable_incident: ['invalid_resource_state'],
  slack_channel: ['slack_not_configured', 'incident_slack_channel_missing', 'slack_channel_not_found'],
};

/** Every error code that an operation may respond with, sorted (contract: Errors). */
export function errorCodesOf(contract: Contract): ErrorCode[] {
  const codes = new Set([
    ...ANY,
    ...(contract.method === 'get' ? [] : WITH_BODY),
    ...(contract.idempotent === true ? IDEMPOTENT : []),
    ...(contract.precondition === true ? PRECONDITION : []),
    ...(contract.needs ?? []).flatMap((need) => NEEDS[need]),
    ...(contract.bodyFault === undefined ? [] : [contract.bodyFault]),
    ...(contract.errors ?? []),
  ]);
  return [...codes].sort();
}

/** Codes that operations have together, by their name in names of responses. */
const GROUPS = Object.entries({
  Body: WITH_BODY,
  IdempotencyKey: IDEMPOTENT,
  Revision: PRECONDITION,
  SlackChannel: NEEDS.slack_channel,
});

/**
 * Names an error response by its status and the codes of an operation that have it, so that equal responses have one name
 * in all services: `InvalidResourceState` of one code, `BadRequestBodyIdempotencyKey` of several.
 */
export function errorResponseName(status: number, codes: readonly ErrorCode[]): string {
  const [first, second] = codes;
  if (first !== undefined && second === undefined) return pascalCase(first);
  let others = codes.filter((code) => !ANY.includes(code));
  const groups = GROUPS.filter(([, group]) => {
    const members = group.filter((code) => ERROR_STATUS[code] === status);
    if (members.length === 0 || !members.every((code) => others.includes(code))) return false;
    others = others.filter((code) => !members.includes(code));
    return true;
  });
  return pascalCase([STATUS_CODES[status], ...groups.map(([name]) => name), ...others].join('_'));
}

const pascalCase = (text: string) => text.replaceAll(/(?:^|[ _])(\w)/g, (_, letter: string) => letter.toUpperCase());

/**
 * Compares what a handler threw with its contract.
 * @throws Error for an error code that the contract does not have
 */
export function checkError(contract: Contract & { readonly id: string }, error: unknown): void {
  if (!(error instanceof DomainError) || errorCodesOf(contract).includes(error.code)) return;
  throw new Error(`the contract of ${contract.id} does not have the error ${error.code}`, { cause: error });
}
