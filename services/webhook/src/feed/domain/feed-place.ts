/** A place in the feed of a workspace: behind the event at this position. */
export interface FeedPlace {
  /** 0: before the first event. */
  position: number;
  /** Of the event, so that a cursor proves which one it has passed: a database that lost events gives positions again. */
  mark: string;
}

/** Random digits of the ID of an event. Empty: the event is deleted, or there is none. */
export const markOf = (eventId: string) => `coalesce(right(${eventId}::text, 12), '')`;
