import { type Contracts, endpoint, type Handlers, pageQuery, pathId } from '@tocsin/http';
import { z } from 'zod';
import { create, INCIDENT, params, read, write } from '../../incidents/http/contracts.ts';
import {
  formerPage,
  newTimelineEvent,
  timelineEventPatch,
  timelineEventReply,
  timelinePage,
  timelineQuery,
} from './wire.ts';

const TIMELINE = `${INCIDENT}/timeline`;
const EVENT = '/api/v1/timeline/{id}';
const eventParams = z.strictObject({ id: pathId.meta({ description: 'ID of the timeline event' }) });
const event = { status: 200, body: timelineEventReply, versioned: true } as const;

/** contract: Timeline */
export const timelineContracts = {
  listTimelineEvents: {
    ...endpoint('GET', TIMELINE, 'List timeline events'),
    tag: 'Timeline',
    ...read,
    params,
    query: timelineQuery,
    cost: { base: 2, parameters: { q: 4 } },
    reply: { status: 200, body: timelinePage },
  },
  createTimelineEvent: {
    ...endpoint('POST', TIMELINE, 'Create a timeline event'),
    tag: 'Timeline',
    ...write,
    params,
    idempotent: true,
    body: newTimelineEvent,
    reply: {
      ...event,
      status: 201,
      assigned: ['event.id', 'event.attachments[].timeline_event_id'],
      resource: '/api/v1/timeline/{event.id}',
    },
  },
  getTimelineEvent: {
    ...endpoint('GET', EVENT, 'Get a timeline event'),
    tag: 'Timeline',
    ...read,
    params: eventParams,
    reply: event,
  },
  updateTimelineEvent: {
    ...endpoint('PATCH', EVENT, 'Update a timeline event'),
    tag: 'Timeline',
    ...write,
    params: eventParams,
    precondition: true,
    body: timelineEventPatch,
    reply: event,
  },
  deleteTimelineEvent: {
    ...endpoint('DELETE', EVENT, 'Delete a timeline event'),
    tag: 'Timeline',
    ...write,
    params: eventParams,
    reply: { status: 204 },
  },
  restoreTimelineEvent: {
    ...endpoint('POST', `${EVENT}/restore`, 'Restore a deleted timeline event'),
    tag: 'Timeline',
    ...write,
    params: eventParams,
    reply: event,
  },
  listTimelineEventRevisions: {
    ...endpoint('GET', `${EVENT}/revisions`, 'List the former revisions of a timeline event'),
    tag: 'Timeline',
    ...read,
    params: eventParams,
    query: z.strictObject(pageQuery),
    reply: { status: 200, body: formerPage },
  },
  listDeletedTimelineEvents: {
    ...endpoint('GET', `${TIMELINE}/deleted`, 'List the deleted timeline events'),
    tag: 'Timeline',
    ...create,
    params,
    query: z.strictObject(pageQuery),
    reply: { status: 200, body: formerPage },
  },
} as const satisfies Contracts;

export type TimelineApi = Handlers<typeof timelineContracts>;
