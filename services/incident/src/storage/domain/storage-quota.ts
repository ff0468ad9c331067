import { SMALL_WRITE } from '@tocsin/schemas';
import { quotaExceeded } from '@tocsin/http';

const MEBIBYTE = 1_048_576;

/** A part of the quota on top of it: for small additions and for incidents of any size. */
const RESERVE = 0.1;

/**
 * What a request stores: a new incident; a change of an incident's own properties with its note; an addition to an
 * incident, such as events and values; what an alert says, which has a bound of its own, whatever else its request has.
 */
export type StorageUse = 'incident' | 'change' | 'addition' | 'alert';

/**
 * Checks a request against the storage quota (contract: Quotas). What people need in an outage is refused last: a small
 * incident and a small change never are.
 * @param options.bytes of the request
 * @param options.stored bytes that the workspace stores, at its last measurement
 * @param options.quota mebibytes
 * @throws DomainError `invalid_resource_state`
 */
export function checkStorage(use: StorageUse, options: { bytes: number; stored: number; quota: number }): void {
  const { bytes, stored, quota } = options;
  if (stored < quota * MEBIBYTE) return;
  const hasReserve = stored < quota * MEBIBYTE * (1 + RESERVE);
  const isSmall = use === 'alert' || bytes <= SMALL_WRITE;
  if (use === 'incident' ? isSmall || hasReserve : isSmall && (hasReserve || use === 'change')) return;
  const allowed =
    hasReserve || use === 'incident' || use === 'change'
      ? `requests of at most ${SMALL_WRITE} bytes`
      : 'new incidents and changes of their properties';
  throw quotaExceeded('storage_mb', `at most ${quota} MiB of texts and values, and now only ${allowed}`);
}
