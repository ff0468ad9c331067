import { type Cursors, type CursorScope, cursorsOf, DomainError } from '@tocsin/http';

/** Cursors of the event feed, which are bound to its workspace (contract: Event feed). */
export interface FeedCursors {
  encode(epoch: string, workspaceId: number, position: number): string;
  /**
   * Returns the position of a cursor of this epoch.
   * @throws DomainError `invalid_request` with `field: "after"` for a cursor that is forged or of another workspace or
   *   list, `cursor_expired` for one of another epoch
   */
  decode(epoch: string, workspaceId: number, cursor: string): number;
}

const PATH = '/api/v1/events';

/** @param cursors for the parameter `after` */
export function feedCursors(cursors: Cursors): FeedCursors {
  const ofFeed = cursorsOf(cursors, { name: 'feed', keys: ['text', 'integer'] });
  const scope = (workspaceId: number): CursorScope => ({ workspaceId, path: PATH });
  return {
    encode: (epoch, workspaceId, position) => ofFeed.encode([epoch, position], scope(workspaceId)),
    decode: (epoch, workspaceId, cursor) => {
      const [cursorEpoch, position] = ofFeed.decode(cursor, scope(workspaceId));
      if (cursorEpoch !== epoch) throw cursorExpired();
      return position;
    },
  };
}

/** 410: the events behind the cursor are no longer complete. */
export const cursorExpired = () =>
  new DomainError(
    'cursor_expired',
    'The cursor is too old; take a new one with from=now, read the lists, and continue with the cursor',
    { field: 'after' },
  );
