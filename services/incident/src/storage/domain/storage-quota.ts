import { quotaExceeded } from '@tocsin/http';

const MEBIBYTE = 1_048_576;

/** Bytes of texts and values that one request may add after the quota is used up. */
const SMALL_WRITE = 4_096;
/** A part of the quota on top of it: for small additions and for incidents of any size. */
const RESERVE = 0.1;

export interface StorageWrite {
  /**
   * A new incident, a change of an incident's own properties with its note, or what is added to an incident: events and
   * values.
   */
  kind: 'incident' | 'change' | 'addition';
  /** By how many bytes texts and values grow; negative if they shrink. */
  growth: number;
}

/**
 * Checks a write against the storage quota (contract: Quotas). What people need in an outage is refused last: a small
 * incident and a small change never are.
 * @param options.stored bytes that the workspace stores, about
 * @param options.quota mebibytes
 * @throws DomainError `invalid_resource_state`
 */
export function checkStorage({ kind, growth }: StorageWrite, options: { stored: number; quota: number }): void {
  const { stored, quota } = options;
  if (growth <= 0 || stored < quota * MEBIBYTE) return;
  const hasReserve = stored < quota * MEBIBYTE * (1 + RESERVE);
  const isSmall = growth <= SMALL_WRITE;
  if (kind === 'incident' ? isSmall || hasReserve : isSmall && (hasReserve || kind === 'change')) return;
  const allowed =
    hasReserve || kind !== 'addition'
      ? `requests that store at most ${SMALL_WRITE} bytes of texts and values`
      : 'new incidents and changes of their properties';
  throw quotaExceeded('storage_mb', `at most ${quota} MiB of texts and values, and now only ${allowed}`);
}

/** Bytes of a text or value, about as they are stored. */
export const bytesOf = (value: NonNullable<unknown>): number => Buffer.byteLength(JSON.stringify(value));
