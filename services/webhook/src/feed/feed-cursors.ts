import { type Cursors, type CursorScope, cursorsOf, DomainError } from '@tocsin/http';
import type { FeedPlace } from './domain/feed-place.ts';

/** Cursors of the event feed, which are bound to its workspace (contract: Event feed). */
export interface FeedCursors {
  encode(workspaceId: number, place: FeedPlace): string;
  /** @throws DomainError `invalid_request` with `field: "after"` for a cursor that is forged or of another workspace or list */
  decode(workspaceId: number, cursor: string): FeedPlace;
}

const PATH = '/api/v1/events';

/** @param cursors for the parameter `after` */
export function feedCursors(cursors: Cursors): FeedCursors {
  const ofFeed = cursorsOf(cursors, { name: 'feed', keys: ['integer', 'text'] });
  const scope = (workspaceId: number): CursorScope => ({ workspaceId, path: PATH });
  return {
    encode: (workspaceId, { position, mark }) => ofFeed.encode([position, mark], scope(workspaceId)),
    decode: (workspaceId, cursor) => {
      const [position, mark] = ofFeed.decode(cursor, scope(workspaceId));
      return { position, mark };
    },
  };
}

const ADVICE = 'take a new one with from=now, read the lists, and continue with the cursor';

/** 410: events behind the cursor are deleted or hidden. */
export const cursorExpired = () =>
  new DomainError('cursor_expired', `The cursor is too old; ${ADVICE}`, { field: 'after' });

/** 410: the feed does not have the event that the cursor has passed. */
export const cursorOfAnotherFeed = () =>
  new DomainError(
    'cursor_expired',
    `The cursor is of events that this database has lost, because it was restored to an earlier moment; ${ADVICE}`,
    { field: 'after' },
  );
