import { shareExceeded } from '@tocsin/http';
import { addMilliseconds, type Instant } from '@tocsin/runtime';

const HOUR = 3_600_000;

/**
 * @param what is created, of which a workspace may create `most` within an hour
 * @param createdAt when that was created which has `most` - 1 later ones, if there is one
 * @throws DomainError `rate_limited` when that was less than an hour ago
 */
export function checkCreationRate(
  { what, most }: { what: 'webhooks' | 'destinations'; most: number },
  createdAt: Instant | undefined,
  now: Instant,
): void {
  if (createdAt === undefined) return;
  const wait = Date.parse(addMilliseconds(createdAt, HOUR)) - Date.parse(now);
  if (wait <= 0) return;
  throw shareExceeded(`The workspace has created ${most} ${what} within an hour; try again later`, {
    reason: `${what}_an_hour`,
    seconds: Math.ceil(wait / 1_000),
  });
}
