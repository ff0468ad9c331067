import { randomUUID } from 'node:crypto';
import { type EventType, QUEUES } from '@tocsin/schemas';
import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type IncomingEvent, lockFeeds, recordStatement, withMissingFeeds } from '../src/feed/store/feed-writer.ts';
import { empty, incidentCreated, serviceForFile, type TestService, type TestServiceOptions } from './service.ts';

export const FEED = '/api/v1/events';

/** The scope that each type of events needs, as the contract says. */
export const SCOPE_OF_TYPE = {
  'incident.created': 'incidents:read',
  'incident.updated': 'incidents:read',
  'incident.archived': 'incidents:read',
  'incident.restored': 'incidents:read',
  'incident.imported': 'incidents:read',
  'timeline_event.created': 'incidents:read',
  'timeline_event.updated': 'incidents:read',
  'timeline_event.deleted': 'incidents:read',
  'timeline_event.restored': 'incidents:read',
  'follow_up.created': 'incidents:read',
  'follow_up.updated': 'incidents:read',
  'follow_up.deleted': 'incidents:read',
  'service.changed': 'services:read',
  'team.changed': 'teams:read',
  'custom-field.changed': 'custom_fields:read',
} as const satisfies Partial<Record<EventType, string>>;

export type PublishedType = keyof typeof SCOPE_OF_TYPE;

export interface TestEvent {
  type?: PublishedType;
  /** ID of the resource. */
  id?: number;
  workspaceId?: number;
  eventId?: string;
  revision?: number;
  title?: string;
  occurredAt?: string;
  /** Whether it is about a restricted incident. */
  restricted?: boolean;
}

const AT = '2026-11-20T12:00:00.000Z';

export const TIMELINE_EVENT = {
  id: 7,
  revision: 1,
  started_at: AT,
  ended_at: null,
  is_ongoing: false,
  group_id: null,
  is_key: false,
  source: 'api',
  source_ref: '',
  type: 'note',
  icon: '',
  body: 'Rolled back',
  collaboration_generation: 1,
  tags: [],
  ai_context: '',
  created_by: '1',
  source_window_started_at: null,
  source_window_ended_at: null,
  evidence_links: [],
};

function dataOf(type: PublishedType, { id, revision, title }: { id: number; revision: number; title: string }) {
  const named = { id, revision, name: title, slug: `slug-${id}`, archived_at: null };
  if (type === 'service.changed') {
    return { version: revision, service: { ...named, tier: 't2', owner_team_id: null } };
  }
  if (type === 'team.changed') return { version: revision, team: { ...named, parent_team_id: null } };
  if (type === 'custom-field.changed') {
    const field = { ...named, field_type: 'string', required: false, required_on_creation: false, sort_order: 1 };
    return { version: revision, field: { ...field, created_at: AT } };
  }
  if (type.startsWith('timeline_event.')) {
    return { incident: { id, reference: `INC-${id}`, revision }, timeline_event: { ...TIMELINE_EVENT, title } };
  }
  if (type.startsWith('follow_up.')) {
    const texts = { title, description: '', owner: '', due_on: null, status: 'open', external_url: '' };
    const times = { created_at: AT, created_by: '1', completed_at: null, updated_at: AT };
    return {
      incident: { id, reference: `INC-${id}` },
      follow_up: { id: 7, revision, incident_id: id, ...texts, ...times },
    };
  }
  const { incident } = incidentCreated({ clock: { now: () => AT } }, { id, incident: { revision, title } }).data;
  if (type === 'incident.imported') return { incident, outcome: 'created' };
  return type === 'incident.created' ? { incident } : { incident, changes: [] };
}

/** An event as its owner publishes it. */
export function envelopeOf(event: TestEvent = {}) {
  const { type = 'incident.created', id = 1, workspaceId = 1, revision = 1, title = 'Checkout is down' } = event;
  return {
    id: event.eventId ?? randomUUID(),
    type,
    schema_version: 1,
    occurred_at: event.occurredAt ?? AT,
    workspace: { id: workspaceId, slug: 'acme', is_demo: true },
    request_id: null,
    ...(event.restricted === true && { restricted: true }),
    data: dataOf(type, { id, revision, title }),
  };
}

export const messageOf = (event: { id: string; type: string }) => ({
  id: event.id,
  type: event.type,
  body: JSON.stringify(event),
});

/** The webhook service of a test file, and a consumer in place of the incident service, so that publications are confirmed. */
export async function startFeedService(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await serviceForFile(options);
  service.broker.subscribe(QUEUES.incidentReplicas, async () => 'ack');
  return service;
}

/** Publishes events together and waits until the feed has them. Returns their IDs. */
export async function record(service: TestService, ...events: TestEvent[]): Promise<string[]> {
  const envelopes = events.map(envelopeOf);
  const outcomes = await service.broker.publish(envelopes.map(messageOf));
  if (outcomes.some((outcome) => outcome !== 'confirmed')) throw new Error('an event was not recorded');
  return envelopes.map(({ id }) => id);
}

/** Records events in a transaction of the test, as the consumer of the queue does. */
export async function recordIn(trx: Knex.Transaction, events: readonly IncomingEvent[], now: Instant): Promise<void> {
  const workspaceIds = [...new Set(events.map(({ workspaceId }) => workspaceId))];
  const locked = await query(trx, lockFeeds(workspaceIds));
  await query(trx, recordStatement(events, { feeds: await withMissingFeeds(trx, workspaceIds, locked), now }));
}

/** Records events with SQL, which is faster for many of them. */
export async function fill(service: TestService, { workspaceId = 1, count }: { workspaceId?: number; count: number }) {
  const body = JSON.stringify(envelopeOf({ workspaceId }));
  await service.knex.raw(
    `insert into feed_events (workspace_id, position, event_id, type, resource, recorded_at, body)
     select ?::bigint, coalesce(w.position, 0) + n, gen_random_uuid(), 'incident.created', 'incident:1', ?::timestamptz, ?::text
     from generate_series(1, ?::int) n left join feed_workspaces w on w.workspace_id = ?`,
    [workspaceId, service.clock.now(), body, count, workspaceId],
  );
  await service.knex.raw(
    `insert into feed_workspaces (workspace_id, position, unrestricted_position, recorded_at)
     select workspace_id, max(position), max(position), max(recorded_at) from feed_events where workspace_id = ? group by workspace_id
     on conflict (workspace_id) do update set position = excluded.position, unrestricted_position = excluded.position,
       recorded_at = excluded.recorded_at`,
    [workspaceId],
  );
}

/** Clears the feed, as if nothing had ever been recorded. The tables are locked in the order in which the recorder locks them. */
export const clearFeed = async (service: TestService) =>
  empty(service, ['feed_workspaces', 'feed_events', 'feed_restrictions']);

/** The number of waiting requests of a process, in all workspaces. */
export async function waitingAt(url: string): Promise<number> {
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  return Number(/^tocsin_http_waiting_requests\S* (\d+)$/m.exec(metrics)?.[1]);
}
