/** Why a tracker has not done what was asked. */
export interface FailureOptions {
  /** The HTTP status of its answer. */
  status?: number | undefined;
  /** Whether the tracker fails as a whole, so that all its tickets wait. */
  isOfTracker: boolean;
  /** Milliseconds that it asks to wait. */
  wait?: number | undefined;
  /** Whether it may have done it all the same. */
  isUncertain?: boolean;
}

/** A tracker has not done what was asked. It contains no text of the tracker. */
export class TrackerFailure extends Error {
  /** From a fixed list (contract: Trackers). */
  readonly reason: string;
  readonly options: FailureOptions;

  constructor(reason: string, options: FailureOptions) {
    super(`the tracker has not done it: ${reason}`);
    this.reason = reason;
    this.options = options;
  }
}

/** A failure of one ticket. */
export const ticketFailure = (reason: string, status?: number) =>
  new TrackerFailure(reason, { status, isOfTracker: false });
