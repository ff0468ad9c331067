import { type Cursors, DEFAULT_LIMIT, idempotently, paginate, pathId, route } from '@tocsin/http';
import { z } from 'zod';
import type { TimelineEvent } from '../domain/timeline-event.ts';
import { attachmentsOf } from '../store/attachment-store.ts';
import { readTimeline } from '../store/timeline-list.ts';
import { timelineStore } from '../store/timeline-store.ts';
import type { Tools } from '../usecases/context.ts';
import { createTimelineEvent } from '../usecases/create-timeline-event.ts';
import { deleteTimelineEvent } from '../usecases/delete-timeline-event.ts';
import { updateTimelineEvent } from '../usecases/update-timeline-event.ts';
import type { AttachmentUrl } from './attachment-urls.ts';
import { filtersOf, positionOf, timelineScope } from './timeline-query.ts';
import { newEventView, timelineEventView } from './timeline-views.ts';
import {
  newTimelineEvent,
  timelineEventPatch,
  timelineEventReply,
  timelinePage,
  timelineQuery,
} from './timeline-wire.ts';

const tag = 'Timeline';
const params = z.strictObject({ id: pathId });
const timeline = '/api/v1/incidents/{id}/timeline';
const event = '/api/v1/timeline/{id}';
const one = { status: 200, body: timelineEventReply, versioned: true } as const;
const writing = { tag, scope: 'incidents:write', needs: ['active_responder', 'mutable_incident'], params } as const;

export interface TimelineParts {
  tools: Tools;
  cursors: Cursors;
  attachmentUrl: AttachmentUrl;
}

export function timelineRoutes({ tools, cursors, attachmentUrl }: TimelineParts) {
  const { database } = tools;
  const answer = async (found: TimelineEvent) => ({
    body: { event: timelineEventView(found, await attachmentsOf(database, [found.id]), attachmentUrl) },
    revision: found.revision,
  });
  return [
    route({
      id: 'listTimelineEvents',
      method: 'get',
      path: timeline,
      summary: "An incident's timeline, by start and ID, with what its filters would find",
      tag,
      scope: 'incidents:read',
      params,
      query: timelineQuery,
      reply: { status: 200, body: timelinePage },
      handle: async ({ principal, params: { id: incidentId }, query }) => {
        const { limit = DEFAULT_LIMIT, cursor } = query;
        const workspaceId = principal.workspace.id;
        const filters = filtersOf(query);
        const scope = timelineScope(workspaceId, incidentId, filters);
        const after = cursor === undefined ? undefined : positionOf(cursor, { cursors, scope, filters });
        const found = await readTimeline(database, { workspaceId, incidentId, filters, limit: limit + 1, after });
        const { page, pagination } = paginate({
          rows: found.events,
          limit,
          nextCursor: (last) => cursors.encode([last.startedAt, last.id], scope),
        });
        const { has_more, next_cursor } = pagination;
        const { counts } = found;
        return {
          body: {
            events: page.map((each) => timelineEventView(each, found.attachments, attachmentUrl)),
            filter_counts: {
              all_events: counts.allEvents,
              type_counts: counts.types,
              source_counts: counts.sources,
              tag_counts: counts.tags,
            },
            matched_count: counts.matched,
            latest_started_at: found.latestStartedAt,
            pagination,
            has_more,
            ...(next_cursor !== undefined && { next_cursor }),
          },
        };
      },
    }),
    route({
      ...writing,
      id: 'createTimelineEvent',
      method: 'post',
      path: timeline,
      summary: "Add an event to an active incident's timeline",
      idempotent: true,
      body: newTimelineEvent,
      reply: { ...one, status: 201 },
      handle: async (request) => {
        const { principal, requestId, params, body } = request;
        return idempotently(database, request, async (claim) => ({
          status: 201,
          revision: 1,
          text: await createTimelineEvent(tools, {
            principal,
            requestId,
            incidentId: params.id,
            body,
            claim,
            render: (created) => JSON.stringify({ event: newEventView(created) }),
          }),
        }));
      },
    }),
    route({
      id: 'getTimelineEvent',
      method: 'get',
      path: event,
      summary: 'One timeline event',
      tag,
      scope: 'incidents:read',
      params,
      reply: one,
      handle: async ({ principal, params: { id } }) =>
        answer(await timelineStore(database, principal.workspace.id).get(id)),
    }),
    route({
      ...writing,
      id: 'updateTimelineEvent',
      method: 'patch',
      path: event,
      summary: 'Change some properties of a timeline event of an active incident',
      precondition: true,
      body: timelineEventPatch,
      reply: one,
      handle: async ({ principal, requestId, params: { id }, expectedRevision, body }) =>
        answer(await updateTimelineEvent(tools, { principal, requestId, id, expectedRevision, body })),
    }),
    route({
      ...writing,
      id: 'deleteTimelineEvent',
      method: 'delete',
      path: event,
      summary: "Take an event out of an active incident's timeline, for good",
      reply: { status: 204 },
      handle: async ({ principal, requestId, params: { id } }) => {
        await deleteTimelineEvent(tools, { principal, requestId, id });
        return {};
      },
    }),
  ];
}
