import { addMilliseconds, type Instant } from '@tocsin/runtime';

/** Why something outside did not answer as it should. */
export interface CallFailure {
  /** From a fixed list, never text of the other side. */
  reason: string;
  /** The HTTP status of its answer, if there was one. */
  status: number | null;
  at: Instant;
}

/** What is known of something outside that is called again and again. */
export interface CalledState {
  isPaused: boolean;
  archivedAt: Instant | null;
  /** In a row. */
  failures: number;
  /** Since when none of them was a success; null: it works. */
  failingSince: Instant | null;
  lastSuccessAt: Instant | null;
  lastFailure: CallFailure | null;
  /** Before it, it is not called. */
  dueAt: Instant;
}

export const CALLED_STATUSES = ['active', 'failing', 'paused', 'archived'] as const;

export function calledStatusOf({
  archivedAt,
  isPaused,
  failingSince,
}: Pick<CalledState, 'archivedAt' | 'isPaused' | 'failingSince'>): (typeof CALLED_STATUSES)[number] {
  if (archivedAt !== null) return 'archived';
  if (isPaused) return 'paused';
  return failingSince === null ? 'active' : 'failing';
}

/** What does not accept who calls is called again more rarely. */
const FIRST_WAIT_WHEN_DENIED = 60_000;
const LONGEST_WAIT = 3_600_000;

/**
 * What follows a failure: a wait that doubles up to an hour, or what the other side has asked for.
 * @param failure.asked milliseconds
 * @param rule.failingFrom failures in a row from which it counts as failing
 * @param rule.firstWait milliseconds, also the shortest that may be asked for
 * @param rule.longestAsked milliseconds
 */
export function afterCallFailure(
  { failures, failingSince }: Pick<CalledState, 'failures' | 'failingSince'>,
  { reason, status, at, isDenied, asked }: CallFailure & { isDenied: boolean; asked: number | undefined },
  { failingFrom, firstWait, longestAsked }: { failingFrom: number; firstWait: number; longestAsked: number },
): AfterCallFailure {
  const first = isDenied ? FIRST_WAIT_WHEN_DENIED : firstWait;
  const backoff = Math.min(LONGEST_WAIT, first * 2 ** Math.min(failures, 20));
  const wait = asked === undefined ? backoff : Math.min(longestAsked, Math.max(firstWait, asked));
  return {
    failures: failures + 1,
    failingSince: failingSince ?? (isDenied || failures + 1 >= failingFrom ? at : null),
    lastFailure: { reason, status, at },
    dueAt: addMilliseconds(at, wait),
  };
}

export type AfterCallFailure = Pick<CalledState, 'failures' | 'failingSince' | 'dueAt'> & { lastFailure: CallFailure };
