/**
 * `erasure` says what this service keeps about persons (contract: Erasing a user), and walks over it with the walk of
 * all services (`@tocsin/service-host`). Rows are changed without a revision, a changelog entry or an event, because
 * nothing that happened changes. An incident's row that changes has another `xmin`, so kept copies are not used again.
 * The events of the outbox are changed, too; when all is done, `user.erased` is published behind them. A step that is
 * repeated changes nothing, and what a crash interrupts the gateway asks for again.
 */
import { outbox } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Clock } from '@tocsin/runtime';
import { personalDataRoutes, type PersonalTables } from '@tocsin/service-host';

const EVENT: PersonalTables[string] = {
  users: ['created_by', 'edited_by'],
  people: ['created_by', 'edited_by', 'edited_key_name'],
  json: ['created_by_key'],
  texts: ['title', 'body', 'ai_context', 'source_ref', 'tags', 'evidence_links'],
  place: { kind: 'timeline_event', id: 'id' },
};

export const PERSONAL_TABLES: PersonalTables = {
  replica_users: { users: ['id'] },
  incidents: {
    users: ['created_by', 'archived_by', 'incident_manager', 'incident_responders'],
    people: ['created_by', 'incident_manager', 'incident_responders'],
    json: ['created_by_key', 'roles'],
    texts: ['title', 'short_title', 'impact_summary', 'custom_fields', 'slack_channel_id', 'service'],
    place: { kind: 'incident', id: 'id' },
  },
  incident_accesses: { users: ['user_id'], people: ['key_name'] },
  changelog: {
    users: ['actor'],
    people: ['actor', 'api_key_name'],
    json: ['changes'],
    place: { kind: 'changelog_entry', id: 'id' },
  },
  incident_values: { users: ['updated_by'], people: ['updated_by'] },
  timeline_events: EVENT,
  former_timeline_events: {
    ...EVENT,
    users: ['created_by', 'edited_by', 'deleted_by'],
    people: ['created_by', 'edited_by', 'edited_key_name', 'deleted_by', 'deleted_key_name'],
    json: ['created_by_key', 'attachments'],
  },
  timeline_attachments: {
    users: ['created_by'],
    people: ['created_by'],
    texts: ['filename'],
    place: { kind: 'attachment', id: 'id' },
  },
  pictures: {
    users: ['created_by'],
    people: ['created_by'],
    texts: ['filename'],
    place: { kind: 'attachment', id: 'id' },
  },
  timeline_groups: { texts: ['name'], place: { kind: 'timeline_group', id: 'id' } },
  incident_relations: { users: ['created_by'], people: ['created_by'], json: ['created_by_key'] },
  follow_ups: {
    users: ['owner', 'created_by'],
    people: ['owner', 'created_by'],
    json: ['created_by_key'],
    texts: ['title', 'description'],
    place: { kind: 'follow_up', id: 'id' },
  },
  postmortems: {
    users: ['created_by', 'updated_by', 'in_review_by', 'published_by'],
    people: ['created_by', 'updated_by', 'in_review_by', 'published_by'],
    json: ['created_by_key', 'updated_by_key'],
    texts: ['sections', 'template'],
    place: { kind: 'postmortem', id: 'incident_id' },
  },
  former_postmortems: {
    users: ['updated_by'],
    people: ['updated_by'],
    json: ['updated_by_key'],
    texts: ['sections'],
    place: { kind: 'postmortem', id: 'incident_id' },
  },
  trackers: { texts: ['name', 'project'], place: { kind: 'tracker', id: 'id' } },
  alert_notifications: {
    people: ['key_name'],
    texts: ['body_start', 'identity'],
    place: { kind: 'notification', id: 'id' },
  },
  alert_sources: { json: ['sender'] },
  retentions: { json: ['set_by'] },
  alert_heartbeats: { texts: ['name'], place: { kind: 'heartbeat', id: 'id' } },
  configurations: {
    texts: ['workflow_statuses', 'severities', 'postmortem_template'],
    place: { kind: 'configuration', id: 'workspace_id' },
  },
  idempotency_keys: { users: ['user_id'], json: ['body'] },
  outbox: { json: ['body'] },
  dead_letters: { json: ['body'] },
};

/** The routes of the gateway's erasures. */
export const erasureRoutes = ({
  database,
  clock,
  wakeRelay,
}: {
  database: Knex;
  clock: Clock;
  wakeRelay: () => void;
}) =>
  personalDataRoutes({
    ...{ database, tables: PERSONAL_TABLES },
    onErased: async ({ workspace, user_id: id }) => {
      await database.transaction(async (trx) =>
        outbox(trx).add({
          ...{ type: 'user.erased', occurredAt: clock.now(), workspace, requestId: null },
          data: { user: { id } },
        }),
      );
      wakeRelay();
    },
  });
