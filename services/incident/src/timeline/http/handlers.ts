import { parseTimestamp } from '@tocsin/schemas';
import { buildPage, type Cursors, type CursorScope, DEFAULT_LIMIT, idempotently, cursorsOf } from '@tocsin/http';
import { attachmentsOf } from '../store/attachment-store.ts';
import { type TimelineCounts, type TimelinePosition, timelineReader } from '../store/timeline-list.ts';
import { timelineStore } from '../store/timeline-store.ts';
import { readLegacyCursor } from '../../shared/domain/legacy-cursor.ts';
import type { CommandDependencies } from '../../incidents/run-command.ts';
import {
  createTimelineEvent,
  deleteTimelineEvent,
  restoreTimelineEvent,
  updateTimelineEvent,
  type WholeEvent,
} from '../timeline-events.ts';
import type { AttachmentUrl } from './attachment-urls.ts';
import { formerEventHandlers } from './former-event-handlers.ts';
import { toTimelineProperties } from './properties.ts';
import { timelineEventView } from './views.ts';
import type { NewTimelineEventWire } from './wire.ts';
import type { TimelineApi } from './contracts.ts';
import { legacyFilters, type TimelineFilters, timelineFilters } from '../domain/timeline-filters.ts';

interface TimelineDependencies extends CommandDependencies {
  cursors: Cursors;
  attachmentUrl: AttachmentUrl;
}

const nextUpdateOf = ({ next_update_at: next }: NewTimelineEventWire) =>
  typeof next === 'string' ? parseTimestamp(next) : next;

/** A file of a new event names it. */
const assignedOf = (_: number, place: number) => `event.attachments.${place}.timeline_event_id`;

export function timelineHandlers(dependencies: TimelineDependencies): TimelineApi {
  const { database, cursors, attachmentUrl } = dependencies;
  const timelines = timelineReader(database);
  const timelineCursors = cursorsOf(cursors, { name: 'started_at', keys: ['timestamp', 'integer'] });
  const positionOf = (cursor: string, scope: CursorScope, filters: TimelineFilters): TimelinePosition => {
    const legacy = readLegacyCursor(cursor, { selection: filters, compatible: legacyFilters(filters) });
    if (legacy !== undefined) return { startedAt: legacy.at, id: legacy.id };
    const [startedAt, id] = timelineCursors.decode(cursor, scope);
    return { startedAt, id };
  };
  const eventReply = ({ event, attachments }: WholeEvent) => ({
    body: { event: timelineEventView(event, attachments, attachmentUrl) },
    revision: event.revision,
  });
  return {
    listTimelineEvents: async ({ principal, params: { id: incidentId }, query }) => {
      const { limit = DEFAULT_LIMIT, cursor } = query;
      const workspaceId = principal.workspace.id;
      const filters = timelineFilters(query);
      const scope = { workspaceId, path: `/api/v1/incidents/${incidentId}/timeline`, filters };
      const after = cursor === undefined ? undefined : positionOf(cursor, scope, filters);
      const timeline = await timelines.page({ workspaceId, incidentId, filters, limit: limit + 1, after });
      const { rows, pagination } = await buildPage({
        listed: timeline.listed,
        limit,
        whole: (listed) => timelines.readWhole(workspaceId, listed),
        view: (event) => timelineEventView(event, timeline.attachments, attachmentUrl),
        nextCursor: (last) => timelineCursors.encode([last.startedAt, last.id], scope),
      });
      const { has_more, next_cursor } = pagination;
      return {
        body: {
          events: rows,
          filter_counts: countsView(timeline.counts),
          matched_count: timeline.counts.matched,
          latest_started_at: timeline.latestStartedAt,
          pagination,
          has_more,
          ...(next_cursor !== undefined && { next_cursor }),
        },
      };
    },

    createTimelineEvent: async (request) => {
      const { principal, requestId, params, body } = request;
      const responseOf = (whole: WholeEvent) => ({
        ...{ status: 201, text: JSON.stringify(eventReply(whole).body), revision: whole.event.revision },
      });
      const properties = { ...toTimelineProperties(body), body: body.body };
      const pictures = body.attachments ?? [];
      const content = { properties, pictures, nextUpdateAt: nextUpdateOf(body) };
      const command = { principal, requestId, incidentId: params.id, ...content };
      const reply = await idempotently(database, request, async (key) =>
        responseOf(await createTimelineEvent(dependencies, { ...command, outcome: key && { key, responseOf } })),
      );
      return { ...reply, assigned: pictures.map(assignedOf) };
    },

    getTimelineEvent: async ({ principal, params: { id } }) => {
      const workspaceId = principal.workspace.id;
      const event = await timelineStore(database, workspaceId).get(id);
      return eventReply({ event, attachments: await attachmentsOf(database, workspaceId, event.id) });
    },

    updateTimelineEvent: async ({ principal, requestId, params: { id }, expectedRevision, body }) => {
      const command = { principal, requestId, id, expectedRevision, changes: toTimelineProperties(body) };
      return eventReply(await updateTimelineEvent(dependencies, { ...command, pictures: body.attachments }));
    },

    deleteTimelineEvent: async ({ principal, requestId, params: { id } }) => {
      await deleteTimelineEvent(dependencies, { principal, requestId, id });
      return {};
    },

    restoreTimelineEvent: async ({ principal, requestId, params: { id } }) =>
      eventReply(await restoreTimelineEvent(dependencies, { principal, requestId, id })),

    ...formerEventHandlers({ database, cursors }),
  };
}

const countsView = ({ allEvents, types, sources, tags }: TimelineCounts) => ({
  all_events: allEvents,
  type_counts: types,
  source_counts: sources,
  tag_counts: tags,
});
