import type { Documentation } from '@tocsin/http';
import { params as incidentParams } from '../../incidents/http/examples.ts';
import { newTimelineEvent } from '../domain/timeline-event.ts';
import type { timelineContracts } from './contracts.ts';
import { newEventView } from './views.ts';

const properties = {
  body: 'Rolled back the release',
  title: 'Rollback',
  type: 'mitigation',
  icon: '🔧',
  tags: ['deploy'],
};
const startedAt = '2026-11-20T09:34:00.000Z';

export const timelineEventExample = newEventView({
  ...newTimelineEvent({
    incidentId: 1,
    source: 'api',
    createdBy: '1',
    createdByKey: { name: 'Firefox on Linux', prefix: 'tcn_8sKq' },
    properties: { ...properties, startedAt, isKey: true },
  }),
  id: 5,
});

const key = { name: 'demo', prefix: 'tcs_7Jq2' };
const { attachments: _, comment_count: __, ...present } = timelineEventExample;
const former = { ...present, attachments: [], deleted_by: null, deleted_at: null, deleted_api_key: null };

/** The first event of the timeline of `INC-1` in the sample workspace. */
const first = { id: 1, type: 'note', icon: '', title: '', is_key: false, tags: [] };
const NOTE = 'The connection pool of the order database is exhausted';
const MORE = `${NOTE}; it is doubled`;
const params = { id: first.id };

/** contract: Timeline */
export const timelineOperations: Documentation<typeof timelineContracts> = {
  listTimelineEvents: {
    description:
      "Returns an incident's timeline, ordered by `started_at` and ID. `filter_counts` count the whole timeline, `matched_count` the events that match the filters.",
    params: incidentParams,
    reply: {
      events: [timelineEventExample],
      filter_counts: {
        all_events: 1,
        type_counts: { mitigation: 1 },
        source_counts: { api: 1 },
        tag_counts: { deploy: 1 },
      },
      matched_count: 1,
      latest_started_at: startedAt,
      pagination: { limit: 50, has_more: false },
      has_more: false,
    },
  },
  createTimelineEvent: {
    description:
      "Adds an event to an incident's timeline; only `body` is required. Without `started_at`, the event starts now. Send an `Idempotency-Key`, so that a repeated request does not add a second event. The incident's revision increases.",
    params: incidentParams,
    body: { ...properties, started_at: startedAt, is_key: true },
    reply: { event: timelineEventExample },
  },
  getTimelineEvent: {
    description: 'Returns a timeline event by its ID, also one of an archived incident.',
    params,
    reply: { event: { ...timelineEventExample, ...first, body: NOTE } },
  },
  updateTimelineEvent: {
    description:
      "Changes the properties that the body contains. `If-Service-Resource-Version` must be the event's current revision. The incident's revision increases too.",
    params,
    revision: 1,
    body: { body: MORE },
    reply: {
      event: {
        ...{ ...timelineEventExample, ...first, revision: 2, body: MORE },
        ...{ edited_by: '1', edited_at: '2026-11-20T09:40:00.000Z', edited_api_key: key },
      },
    },
  },
  deleteTimelineEvent: {
    description:
      "Deletes a timeline event. Whoever may change it can see it among the deleted ones, and restore it. The incident's revision increases.",
    params,
  },
  restoreTimelineEvent: {
    description:
      "Restores a deleted timeline event as it was, without its group if that has been removed. Its revision and the incident's increase.",
    params,
    reply: { event: { ...timelineEventExample, ...first, body: NOTE, revision: 2 } },
  },
  listTimelineEventRevisions: {
    description: 'Returns what a timeline event was before each of its changes, with its whole text, the latest first.',
    params,
    reply: { former: [{ ...former, ...first, body: NOTE }], pagination: { limit: 50, has_more: false } },
  },
  listDeletedTimelineEvents: {
    description:
      "Returns the deleted events of an incident's timeline, the last deleted first, each as it was. It needs the scope and the seat of a change.",
    params: incidentParams,
    reply: {
      former: [{ ...former, deleted_by: '1', deleted_at: '2026-11-20T10:02:00.000Z', deleted_api_key: key }],
      pagination: { limit: 50, has_more: false },
    },
  },
};
