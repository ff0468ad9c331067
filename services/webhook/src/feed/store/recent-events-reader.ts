import { type Knex, listenForNotifications, type NotificationListener, query } from '@tocsin/postgres';
import type { Logger } from '@tocsin/runtime';
import { FEED_CHANNEL } from './feed-writer.ts';
import { type FeedPlace, markOf } from '../domain/feed-place.ts';
import type { FeedEvent } from './feed-reader.ts';

/** An event that was recorded a moment ago; `resource` as the API writes it: `incident:12`. */
export interface RecentEvent extends FeedEvent {
  resource: string;
  isRestricted: boolean;
}

/** Sizes are known without reading large bodies. Has no rows behind an event that is another one than the mark says. */
const READ = `
  select position, mark, type, resource, body, restricted as "isRestricted"
  from (
    select position, ${markOf('event_id')} as mark, type, resource, body, restricted, row_number() over ordered as nth, sum(octet_length(body)) over ordered as bytes
    from (
      select position, event_id, type, resource, body, restricted from feed_events
      where workspace_id = $1 and position > $2::bigint and not exists (
        select from feed_events where workspace_id = $1 and position = $2::bigint
          and $5 <> '' and ${markOf('event_id')} <> $5)
      order by position limit $3::int
    ) e
    window ordered as (order by position)
  ) measured
  where nth = 1 or bytes <= $4::int
  order by position`;

const FIND_HEADS = `
  select feed.workspace_id as "workspaceId", feed.position, ${markOf('latest.event_id')} as mark
  from unnest((select $1::bigint[])) as followed (id)
  cross join lateral (
    select workspace_id, position from feed_workspaces where workspace_id = followed.id offset 0) as feed
  left join lateral (
    select event_id from feed_events where workspace_id = feed.workspace_id and position = feed.position offset 0
  ) as latest on true`;

/** Reads new events of workspaces. */
export function recentEventsReader(db: Knex) {
  return {
    /** The events of all types behind a place, about as many bytes as allowed, but at least one if there is one. */
    read: async (
      workspaceId: number,
      { after, limit, maxBytes }: { after: FeedPlace; limit: number; maxBytes: number },
    ): Promise<RecentEvent[]> =>
      query<RecentEvent>(db, {
        name: 'read-recent-events',
        text: READ,
        values: [workspaceId, after.position, limit, maxBytes, after.mark],
      }),

    /** The places behind the latest events of workspaces, as far as they have any. */
    heads: async (workspaceIds: readonly number[]): Promise<(FeedPlace & { workspaceId: number })[]> =>
      query<FeedPlace & { workspaceId: number }>(db, {
        name: 'find-feed-heads',
        text: FIND_HEADS,
        values: [workspaceIds],
      }),
  };
}

/** Calls `onRecorded` for each workspace and batch of new events. What was recorded before `onConnect` may be missing. */
export const listenForRecordedEvents = (options: {
  url: string;
  log: Logger;
  onConnect: () => void;
  onRecorded: (workspaceId: number, latest: FeedPlace) => void;
}): NotificationListener =>
  listenForNotifications({
    url: options.url,
    channel: FEED_CHANNEL,
    application: 'tocsin-webhook-listener',
    log: options.log,
    onConnect: options.onConnect,
    onNotification: (payload) => {
      const [workspace, latest, mark = ''] = payload.split(' ');
      const [workspaceId, position] = [Number(workspace), Number(latest)];
      if (Number.isSafeInteger(workspaceId) && Number.isSafeInteger(position)) {
        options.onRecorded(workspaceId, { position, mark });
      }
    },
  });
