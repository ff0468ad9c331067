import { DomainError } from '../errors/errors.ts';

export const VERSION_HEADER = 'Service-Resource-Version';
export const IF_VERSION_HEADER = 'If-Service-Resource-Version';
export const IDEMPOTENCY_HEADER = 'Idempotency-Key';
/** `true` on a stored response that is sent again. */
export const REPLAYED_HEADER = 'Idempotency-Replayed';

/**
 * Reads the revision that a PATCH expects (contract: Revisions).
 * @throws DomainError `precondition_required` (428) without it, `invalid_precondition` unless it is plain digits
 */
export function readExpectedRevision(header: string | undefined): number {
  if (header === undefined) {
    throw new DomainError(
      'precondition_required',
      `${IF_VERSION_HEADER} is required: send the revision that you read`,
      {
        field: IF_VERSION_HEADER,
      },
    );
  }
  const revision = Number(header);
  if (!/^[1-9]\d*$/.test(header) || !Number.isSafeInteger(revision)) {
    throw new DomainError('invalid_precondition', `${IF_VERSION_HEADER} must be a positive integer`, {
      field: IF_VERSION_HEADER,
    });
  }
  return revision;
}

/** @throws DomainError `precondition_failed` (412) if the resource has changed since the client read it */
export function checkRevision(current: number, expected: number, field: string = IF_VERSION_HEADER): void {
  if (current !== expected) {
    throw new DomainError('precondition_failed', `The resource is at revision ${current}, not ${expected}`, {
      field,
      details: { current_revision: current },
    });
  }
}

/** @throws DomainError `invalid_idempotency_key` unless it is 1 to 128 characters from U+0021 to U+007E */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined || /^[\x21-\x7e]{1,128}$/.test(header)) return header;
  throw new DomainError('invalid_idempotency_key', `${IDEMPOTENCY_HEADER} must be 1 to 128 visible ASCII characters`, {
    field: IDEMPOTENCY_HEADER,
  });
}
