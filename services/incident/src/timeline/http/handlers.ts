import { buildPage, type Cursors, DEFAULT_LIMIT, idempotently } from '@tocsin/http';
import type { TimelineEvent } from '../domain/timeline-event.ts';
import { attachmentsOf } from '../store/attachment-store.ts';
import { timelineReader } from '../store/timeline-list.ts';
import { timelineStore } from '../store/timeline-store.ts';
import type { Dependencies } from '../../dependencies.ts';
import { createTimelineEvent } from '../create-timeline-event.ts';
import { deleteTimelineEvent } from '../delete-timeline-event.ts';
import { updateTimelineEvent } from '../update-timeline-event.ts';
import type { AttachmentUrl } from './attachment-urls.ts';
import { filtersOf, positionOf, timelineCursors, timelineScope } from './query.ts';
import { toTimelineProperties } from './properties.ts';
import { newEventView, timelineEventView } from './views.ts';
import type { TimelineApi } from './contracts.ts';

export interface TimelineHandlerDependencies {
  dependencies: Dependencies;
  cursors: Cursors;
  attachmentUrl: AttachmentUrl;
}

export function timelineHandlers({ dependencies, cursors, attachmentUrl }: TimelineHandlerDependencies): TimelineApi {
  const { database } = dependencies;
  const timelines = timelineReader(database);
  const eventReply = async (event: TimelineEvent) => ({
    body: { event: timelineEventView(event, await attachmentsOf(database, event.id), attachmentUrl) },
    revision: event.revision,
  });
  return {
    listTimelineEvents: async ({ principal, params: { id: incidentId }, query }) => {
      const { limit = DEFAULT_LIMIT, cursor } = query;
      const workspaceId = principal.workspace.id;
      const filters = filtersOf(query);
      const scope = timelineScope(workspaceId, incidentId, filters);
      const after = cursor === undefined ? undefined : positionOf(cursor, { cursors, scope, filters });
      const timeline = await timelines.page({ workspaceId, incidentId, filters, limit: limit + 1, after });
      const { rows, pagination } = await buildPage({
        listed: timeline.listed,
        limit,
        whole: timelines.readWhole,
        view: (event) => timelineEventView(event, timeline.attachments, attachmentUrl),
        nextCursor: (last) => timelineCursors(cursors).encode([last.startedAt, last.id], scope),
      });
      const { has_more, next_cursor } = pagination;
      const { counts } = timeline;
      return {
        body: {
          events: rows,
          filter_counts: {
            all_events: counts.allEvents,
            type_counts: counts.types,
            source_counts: counts.sources,
            tag_counts: counts.tags,
          },
          matched_count: counts.matched,
          latest_started_at: timeline.latestStartedAt,
          pagination,
          has_more,
          ...(next_cursor !== undefined && { next_cursor }),
        },
      };
    },

    createTimelineEvent: async (request) => {
      const { principal, requestId, params, body } = request;
      return idempotently(database, request, async (key) => ({
        status: 201,
        revision: 1,
        text: await createTimelineEvent(dependencies, {
          principal,
          requestId,
          incidentId: params.id,
          properties: { ...toTimelineProperties(body), body: body.body },
          key,
          render: (created) => JSON.stringify({ event: newEventView(created) }),
        }),
      }));
    },

    getTimelineEvent: async ({ principal, params: { id } }) =>
      eventReply(await timelineStore(database, principal.workspace.id).get(id)),

    updateTimelineEvent: async ({ principal, requestId, params: { id }, expectedRevision, body }) => {
      const changes = toTimelineProperties(body);
      return eventReply(
        await updateTimelineEvent(dependencies, { principal, requestId, id, expectedRevision, changes }),
      );
    },

    deleteTimelineEvent: async ({ principal, requestId, params: { id } }) => {
      await deleteTimelineEvent(dependencies, { principal, requestId, id });
      return {};
    },
  };
}
