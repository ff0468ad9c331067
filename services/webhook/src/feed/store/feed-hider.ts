import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import { INCIDENT_OF_EVENT } from '../../shared/store/incident-of-event.ts';
import { lockFeeds } from './feed-writer.ts';

/** How many events one transaction hides at most. */
const BATCH = 1_000;

/** Events of a resource up to a position that are still to be hidden: it has become restricted there. */
export interface Restriction {
  workspaceId: number;
  /** As the API writes it: `incident:12`. */
  resource: string;
  position: number;
}

/**
 * Two look-ups for each event: earlier ones about its resource that everybody may read are rare. Those that were sent to
 * webhooks may be kept for longer than the feed has them.
 */
const ADD = `
  insert into feed_restrictions (workspace_id, resource, position)
  select event.workspace_id, event.resource, max(event.position)
  from unnest((select $1::bigint[]), (select $2::uuid[])) as recorded (workspace_id, event_id)
  cross join lateral (
    select workspace_id, resource, position from feed_events
    where workspace_id = recorded.workspace_id and event_id = recorded.event_id limit 1
  ) as event
  where coalesce(
    (select true from feed_events earlier
      where earlier.workspace_id = event.workspace_id and not earlier.restricted and earlier.resource = event.resource
        and earlier.position < event.position limit 1),
    (select true from events
      where events.workspace_id = event.workspace_id and not events.restricted
        and ${INCIDENT_OF_EVENT} = substr(event.resource, length('incident:') + 1) limit 1))
  group by event.workspace_id, event.resource
  on conflict (workspace_id, resource) do update set position = greatest(excluded.position, feed_restrictions.position)`;

/** Has the earlier events of the resources of restricted events hidden, which are recorded by this transaction. */
export const addRestrictions = (events: readonly { workspaceId: number; id: string }[]): Statement<never> => ({
  text: ADD,
  values: [events.map(({ workspaceId }) => workspaceId), events.map(({ id }) => id)],
});

const HIDE = `
  update feed_events e set restricted = true
  from (
    select position from feed_events
    where workspace_id = $1 and not restricted and resource = $2 and position <= $3::bigint limit ${BATCH}
  ) as earlier
  where e.workspace_id = $1 and e.position = earlier.position
  returning e.position`;

export const findRestriction = async (db: Knex): Promise<Restriction | undefined> => {
  const [restriction] = await query<Restriction>(db, {
    name: 'find-restriction',
    isPoll: true,
    text: 'select workspace_id as "workspaceId", resource, position from feed_restrictions order by workspace_id, resource limit 1',
  });
  return restriction;
};

/** Hides events of a restriction, a batch at most. Returns whether these were the last, and forgets it then. */
export async function hideEarlier(trx: Knex.Transaction, restriction: Restriction): Promise<boolean> {
  const { workspaceId, resource, position } = restriction;
  const values = [workspaceId, resource, position];
  const hide: Statement = { text: HIDE, values };
  const [, hidden] = await pipeline(trx, [lockFeeds([workspaceId]), hide]);
  if (hidden.length === BATCH) return false;
  await query(trx, {
    text: 'delete from feed_restrictions where workspace_id = $1 and resource = $2 and position = $3',
    values,
  });
  return true;
}
