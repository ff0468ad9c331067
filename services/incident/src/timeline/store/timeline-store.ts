import { invalidRequest, notFound } from '@tocsin/http';
import { assignmentsOf, insertOf } from '@tocsin/versioned-resources';
import { brokenConstraint, type Knex, query, type Statement } from '@tocsin/postgres';
import type { NewTimelineEvent, TimelineEvent } from '../domain/timeline-event.ts';
import { insertRows } from '../../shared/store/sql.ts';
import { isOfVisibleText } from '../../visibility/store/visible.ts';
import { currentViewer } from '../../visibility/store/viewer.ts';
import { keepEvents } from './former-event-store.ts';
import { TIMELINE_SELECTION, toTimelineColumns, toTimelineRow } from './timeline-row.ts';

/**
 * Takes the ID of the next event, so that all about it can be written at once. Execute it after locking the incident:
 * events of the same time are in the order of their IDs.
 */
export const NEXT_EVENT_ID: Statement<{ id: number }> = {
  name: 'next-timeline-event-id',
  text: "select nextval('timeline_events_id_seq') as id",
  values: [],
};

export async function nextEventId(trx: Knex.Transaction): Promise<number> {
  const [next] = await query(trx, NEXT_EVENT_ID);
  return (next as { id: number }).id;
}

/** An error of it is for `explainUnknownGroup`. */
export function insertEvent(workspaceId: number, event: NewTimelineEvent & { id?: number }): Statement {
  const { text, values } = insertOf('timeline_events', {
    ...toTimelineColumns(event),
    ...(event.id !== undefined && { id: event.id }),
    workspace_id: workspaceId,
  });
  return { name: 'insert-timeline-event', text: `${text} returning id`, values, isComposed: true };
}

/** Updates an event, and keeps what it was. An error of it is for `explainUnknownGroup`. */
export function updateEvent(workspaceId: number, event: TimelineEvent): Statement[] {
  const columns = toTimelineColumns(event);
  const text = `update timeline_events set ${assignmentsOf(columns, 3)} where workspace_id = $1 and id = $2`;
  const values = [workspaceId, event.id, ...Object.values(columns)];
  return [keepEvents(workspaceId, [event.id]), { name: 'update-timeline-event', text, values, isComposed: true }];
}

/** What a summary says of an event, with the beginning of its body. */
export type LatestEvent = Pick<TimelineEvent, 'id' | 'startedAt' | 'title' | 'body'>;

/** The last event of an incident in the order of timelines, without one of them. */
export const latestEvent = (workspaceId: number, incidentId: number, except = 0): Statement<LatestEvent> => ({
  name: 'find-latest-timeline-event',
  text: `select id, started_at as "startedAt", title, left(body, 140) as body from timeline_events
    where workspace_id = $1 and incident_id = $2 and id <> $3 order by started_at desc, id desc limit 1`,
  values: [workspaceId, incidentId, except],
});

const SELECT = `select ${TIMELINE_SELECTION} from timeline_events where workspace_id = $1 and id = $2`;

/** Stores the timeline events of one workspace, over a pool or a transaction. */
export function timelineStore(db: Knex, workspaceId: number) {
  const one = <Row>([row]: Row[]): Row => {
    if (row === undefined) throw notFound('The timeline event');
    return row;
  };
  return {
    /** @throws DomainError `not_found` */
    get: async (id: number): Promise<TimelineEvent> =>
      one(
        await query<TimelineEvent>(db, {
          name: 'get-timeline-event',
          text: `${SELECT} and ${isOfVisibleText('timeline_events.incident_id', 3)}`,
          values: [workspaceId, id, currentViewer()],
        }),
      ),

    /** Locks the event; the transaction must have locked the incident. @throws DomainError `not_found` */
    getForUpdate: async (id: number): Promise<TimelineEvent> =>
      one(
        await query<TimelineEvent>(db, {
          name: 'lock-timeline-event',
          text: `${SELECT} for update`,
          values: [workspaceId, id],
        }),
      ),

    /** Returns the event's incident, which never changes. @throws DomainError `not_found` */
    async getIncidentId(id: number): Promise<number> {
      const rows = await query<{ incidentId: number }>(db, {
        name: 'find-incident-of-timeline-event',
        text: `select incident_id as "incidentId" from timeline_events
          where workspace_id = $1 and id = $2 and ${isOfVisibleText('timeline_events.incident_id', 3)}`,
        values: [workspaceId, id, currentViewer()],
      });
      return one(rows).incidentId;
    },

    /**
     * Inserts events in one statement, at least one; events of the same time keep their order. They must have no group.
     * Returns them in their order.
     */
    async insertAll(events: readonly NewTimelineEvent[]): Promise<TimelineEvent[]> {
      const rows = events.map((event) => toTimelineRow(workspaceId, event));
      const inserted = await query<{ id: number }>(db, {
        name: 'insert-timeline-events',
        text: `${insertRows('timeline_events', Object.keys(rows[0] ?? {}))} returning id`,
        values: [JSON.stringify(rows)],
      });
      // Rows get their IDs in the order of the statement, but are not promised to return in it.
      const ids = inserted.map(({ id }) => id).sort((a, b) => a - b);
      return events.map((event, index) => ({ ...event, id: ids[index] as number }));
    },
  };
}

/** Returns a DomainError `invalid_request` if the workspace has no such group as the event that is written. */
export const explainUnknownGroup = (error: unknown): unknown =>
  brokenConstraint(error) === 'timeline_events_group'
    ? invalidRequest('group_id', 'Must be a timeline group of the workspace')
    : error;
