import { invalidRequest, notFound } from '@tocsin/http';
import { insertOf } from '@tocsin/resources';
import { brokenConstraint, type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { NewTimelineEvent, TimelineEvent } from '../domain/timeline-event.ts';
import { keepEvents } from './former-event-store.ts';
import { TIMELINE_SELECTION, toTimelineColumns } from './timeline-row.ts';

/**
 * Takes the ID of the next event, so that all about it can be written at once. Execute it after locking the incident:
 * events of the same time are in the order of their IDs.
 */
export const NEXT_EVENT_ID: Statement = {
  name: 'next-timeline-event-id',
  text: "select nextval('timeline_events_id_seq') as id",
};

/** Execute it within `reportingUnknownGroup`. */
export function insertEvent(workspaceId: number, event: NewTimelineEvent & { id?: number }): Statement<{ id: number }> {
  const { text, values } = insertOf('timeline_events', {
    ...toTimelineColumns(event),
    ...(event.id !== undefined && { id: event.id }),
    workspace_id: workspaceId,
  });
  return { name: 'insert-timeline-event', text: `${text} returning id`, values, isComposed: true };
}

function updateEvent(event: TimelineEvent): Statement {
  const columns = toTimelineColumns(event);
  const assignments = Object.keys(columns).map((name, index) => `${name} = $${index + 2}`);
  return {
    name: 'update-timeline-event',
    text: `update timeline_events set ${assignments.join(', ')} where id = $1`,
    values: [event.id, ...Object.values(columns)],
    isComposed: true,
  };
}

const FIND_LATEST = `
  select started_at as "startedAt", title, left(body, 140) as body from timeline_events
  where workspace_id = $1 and incident_id = $2 order by started_at desc, id desc limit 1`;

/** Stores the timeline events of one workspace, over a pool or a transaction. */
export function timelineStore(db: Knex, workspaceId: number) {
  const events = () => db('timeline_events').where('workspace_id', workspaceId);
  const selected = (id: number) => events().where({ id }).select<TimelineEvent[]>(db.raw(TIMELINE_SELECTION));
  const one = <Row>([row]: Row[]): Row => {
    if (row === undefined) throw notFound('The timeline event');
    return row;
  };
  return {
    /** @throws DomainError `not_found` */
    get: async (id: number): Promise<TimelineEvent> => one(await selected(id)),

    /** Locks the event; the transaction must have locked the incident. @throws DomainError `not_found` */
    getForUpdate: async (id: number): Promise<TimelineEvent> => one(await selected(id).forUpdate()),

    /** Returns the event's incident, which never changes. @throws DomainError `not_found` */
    getIncidentId: async (id: number): Promise<number> =>
      one(await events().where({ id }).pluck<number[]>('incident_id')),

    /** @throws DomainError `invalid_request` if the workspace has no such group */
    async insert(event: NewTimelineEvent): Promise<TimelineEvent> {
      const [row] = await reportingUnknownGroup(query(db, insertEvent(workspaceId, event)));
      return { ...event, id: (row as { id: number }).id };
    },

    /**
     * Inserts events in one statement, at least one; events of the same time keep their order. They must have no group.
     * Returns them in their order.
     */
    async insertAll(events: readonly NewTimelineEvent[]): Promise<TimelineEvent[]> {
      const rows = events.map((event) => ({ ...toTimelineColumns(event), workspace_id: workspaceId }));
      const inserted = await db('timeline_events').insert(rows).returning<{ id: number }[]>('id');
      // Rows get their IDs in the order of the statement, but are not promised to return in it.
      const ids = inserted.map(({ id }) => id).sort((a, b) => a - b);
      return events.map((event, index) => ({ ...event, id: ids[index] as number }));
    },

    /** @throws DomainError `invalid_request` if the workspace has no such group */
    async update(event: TimelineEvent): Promise<void> {
      await reportingUnknownGroup(pipeline(db, [keepEvents([event.id]), updateEvent(event)]));
    },

    /** Returns the title and the beginning of the body of an incident's last event, in the order of timelines. */
    async findLatest(incidentId: number): Promise<{ startedAt: Instant; title: string; body: string } | undefined> {
      const [latest] = await query<{ startedAt: Instant; title: string; body: string }>(db, {
        name: 'find-latest-timeline-event',
        text: FIND_LATEST,
        values: [workspaceId, incidentId],
      });
      return latest;
    },
  };
}

/** @throws DomainError `invalid_request` if the workspace has no such group as the event that is written */
export async function reportingUnknownGroup<Result>(write: PromiseLike<Result>): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    if (brokenConstraint(error) === 'timeline_events_group') {
      throw invalidRequest('group_id', 'Must be a timeline group of the workspace');
    }
    throw error;
  }
}
