import type { FailureReason } from './messages.ts';

/** Errors whose cause is on our side: no route, or no free resources. */
const LOCAL_ERRORS = new Set([
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTUNREACH',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
]);

export const isLocalError = ({ code }: NodeJS.ErrnoException): boolean => code !== undefined && LOCAL_ERRORS.has(code);

/** Why a request could not be sent. */
export class RequestFailure extends Error {
  readonly reason: FailureReason;
  readonly isLocal: boolean;

  constructor(reason: FailureReason, { isLocal = false } = {}) {
    super(reason);
    this.reason = reason;
    this.isLocal = isLocal;
  }
}
