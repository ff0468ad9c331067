import type {
  Envelope,
  EventData,
  EventType,
  FollowUpSnapshot,
  PublishedIncident,
  TimelineEventSnapshot,
} from '@tocsin/schemas';

const workspace = { id: 1, slug: 'acme', is_demo: false };

const incident: PublishedIncident = {
  id: 17,
  reference: 'INC-17',
  revision: 1,
  title: 'Checkout is down',
  external_id: null,
  external_url: '',
  imported_at: null,
  service: 'checkout',
  regions: ['eu-west'],
  severity: 'sev1',
  status: 'open',
  issue_type: 'incident',
  impact_summary: '',
  team_id: 3,
  created_at: '2026-11-20T09:30:00.000Z',
  created_by: '42',
  created_by_key: { name: 'Alertmanager', prefix: 'tcs_4fD9' },
  archived_at: null,
  archived_by: null,
  status_changed_at: null,
  severity_mode: 'manual',
  slack_channel_id: '',
  meet_url: '',
  doc_url: '',
  customer_impact_status: 'unknown',
  impact_started_at: null,
  first_reported_at: '2026-11-20T09:28:00.000Z',
  first_responded_at: null,
  first_acted_at: null,
  recovered_at: null,
  next_update_at: null,
  incident_manager: '42',
  incident_responders: [],
  restricted: false,
  visible_to: { users: [], teams: [] },
  roles: {},
  custom_fields: { customers_affected: 0 },
  event_count: 0,
  last_event_at: null,
  last_event_summary: '',
};

const timelineEvent: TimelineEventSnapshot = {
  id: 301,
  revision: 1,
  started_at: '2026-11-20T09:35:00.000Z',
  ended_at: null,
  is_ongoing: false,
  group_id: null,
  is_key: true,
  source: 'api',
  source_ref: '',
  type: 'note',
  icon: '',
  title: 'Rollback started',
  body: 'Release 412 is rolled back.',
  collaboration_generation: 1,
  tags: ['deploy'],
  ai_context: '',
  created_by: '42',
  created_by_key: { name: 'Firefox on Linux', prefix: 'tcn_8sKq' },
  source_window_started_at: null,
  source_window_ended_at: null,
  evidence_links: [],
  imported: false,
};
const followUp: FollowUpSnapshot = {
  id: 12,
  revision: 1,
  incident_id: 17,
  title: 'Alert on the size of the connection pool',
  description: '',
  owner: '42',
  due_on: '2026-12-04',
  status: 'open',
  external_url: 'https://tickets.acme.example/OPS-214',
  created_at: '2026-11-20T11:00:00.000Z',
  created_by: '42',
  created_by_key: { name: 'Firefox on Linux', prefix: 'tcn_8sKq' },
  completed_at: null,
  updated_at: '2026-11-20T11:00:00.000Z',
};
const done = '2026-12-02T09:00:00.000Z';
const { id, reference } = incident;

const BY = { actor: '42', api_key: { name: 'deploys', prefix: 'tcs_7Jq2' } };

const DATA: { [Type in EventType]: EventData<Type> } = {
  'incident.created': { incident },
  'incident.updated': {
    incident: { ...incident, revision: 2, status: 'monitoring', status_changed_at: '2026-11-20T09:32:00.000Z' },
    changes: [{ field: 'status', from: 'open', to: 'monitoring' }],
  },
  'incident.archived': {
    incident: { ...incident, revision: 6, archived_at: '2026-11-21T08:00:00.000Z', archived_by: 42 },
    changes: [
      { field: 'archived_at', from: null, to: '2026-11-21T08:00:00.000Z' },
      { field: 'archived_by', from: null, to: 42 },
    ],
  },
  'incident.restored': {
    incident: { ...incident, revision: 7 },
    changes: [
      { field: 'archived_at', from: '2026-11-21T08:00:00.000Z', to: null },
      { field: 'archived_by', from: 42, to: null },
    ],
  },
  'incident.imported': {
    incident: {
      ...incident,
      external_id: 'dispatch:214',
      external_url: 'https://dispatch.acme.example/default/incidents/dispatch-214',
      imported_at: '2026-11-22T07:00:00.000Z',
      created_at: '2024-03-02T18:04:00.000Z',
      first_reported_at: '2024-03-02T18:01:00.000Z',
      created_by: 'Ana <ana@acme.example>',
      created_by_key: null,
      status: 'closed',
      status_changed_at: '2024-03-02T21:40:00.000Z',
      event_count: 1,
      last_event_at: '2024-03-02T18:20:00.000Z',
      last_event_summary: 'Rolled back',
    },
    outcome: 'created',
  },
  'incident.deleted': { incident: { id: 17, reference: 'INC-17' } },
  'timeline_event.created': { incident: { id, reference, revision: 3 }, timeline_event: timelineEvent },
  'timeline_event.updated': {
    incident: { id, reference, revision: 4 },
    timeline_event: {
      ...timelineEvent,
      revision: 2,
      body: { digest: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', bytes: 5_120 },
      collaboration_generation: 2,
    },
  },
  'timeline_event.deleted': {
    incident: { id, reference, revision: 5 },
    timeline_event: { ...timelineEvent, revision: 2, collaboration_generation: 2 },
  },
  'timeline_event.restored': {
    incident: { id, reference, revision: 6 },
    timeline_event: { ...timelineEvent, revision: 3, collaboration_generation: 2 },
  },
  'follow_up.created': { incident: { id, reference }, follow_up: followUp },
  'follow_up.updated': {
    incident: { id, reference },
    follow_up: { ...followUp, revision: 2, status: 'done', completed_at: done, updated_at: done },
  },
  'follow_up.deleted': { incident: { id, reference }, follow_up: followUp },
  'service.changed': {
    version: 12,
    service: {
      id: 5,
      revision: 1,
      name: 'Checkout',
      slug: 'checkout',
      tier: 't1',
      owner_team_id: 3,
      archived_at: null,
    },
  },
  'team.changed': {
    version: 11,
    team: { id: 3, revision: 1, name: 'Payments', slug: 'payments', parent_team_id: null, archived_at: null },
  },
  'custom-field.changed': {
    version: 4,
    field: {
      id: 9,
      revision: 1,
      name: 'Customers affected',
      slug: 'customers_affected',
      field_type: 'number',
      default_value: 0,
      config: { min: 0, precision: 0 },
      required: false,
      required_on_creation: false,
      sort_order: 1,
      created_at: '2026-11-20T09:00:00.000Z',
      archived_at: null,
    },
  },
  'workspace.changed': {
    version: 2,
    workspace: { name: 'Acme', history_days: null, reporting_currency: 'USD', short_title_required: false },
  },
  'user.changed': {
    version: 3,
    user: { id: 42, email: 'ana@acme.example', name: 'Ana', active: true, seat: 'responder', role: 'admin' },
  },
  'user.erased': { user: { id: 42 } },
  'audit.recorded': {
    entry: {
      actor: { type: 'user', user_id: 42, key_id: 7 },
      action: 'webhook.paused',
      target: { type: 'webhook', id: 'wh_7Jq2VtXw90b31Kd5Rz8LmN' },
      before: { name: null, url: 'https://hooks.acme.example', event_types: ['incident.created'], status: 'active' },
      after: { name: null, url: 'https://hooks.acme.example', event_types: ['incident.created'], status: 'paused' },
    },
  },
  'customer-impact.updated': {
    workspace_id: 1,
    incident_id: 17,
    affected_customers: 1_280,
    mrr: [{ currency: 'EUR', amount_minor: 4_200_000 }],
    as_of: '2026-11-20T09:45:00.000Z',
  },
  'investigation.run.updated': {
    workspace_id: 1,
    incident_id: 17,
    run_id: 'run-2026-11-20-1',
    status: 'completed',
    started_at: '2026-11-20T09:31:00.000Z',
    completed_at: '2026-11-20T09:40:00.000Z',
  },
  'incident.update_due': {
    incident: { ...incident, revision: 3, next_update_at: '2026-11-20T10:30:00.000Z' },
  },
  'incident.postmortem_changed': {
    incident: { id, reference },
    postmortem: { revision: 4, state: 'published', previous_state: 'in_review' },
  },
};

const OCCURRED_AT: Partial<Record<EventType, string>> = {
  'incident.updated': '2026-11-20T09:32:00.000Z',
  'timeline_event.created': '2026-11-20T09:36:00.000Z',
  'timeline_event.updated': '2026-11-20T09:37:00.000Z',
  'timeline_event.deleted': '2026-11-20T09:38:00.000Z',
  'timeline_event.restored': '2026-11-20T09:39:00.000Z',
  'follow_up.created': followUp.created_at,
  'follow_up.updated': done,
  'follow_up.deleted': '2026-11-20T11:05:00.000Z',
  'incident.archived': '2026-11-21T08:00:00.000Z',
  'incident.restored': '2026-11-21T09:00:00.000Z',
  'incident.imported': '2026-11-22T07:00:00.000Z',
  'incident.update_due': '2026-11-20T10:30:00.000Z',
  'incident.postmortem_changed': '2026-11-23T09:00:00.000Z',
};

/** Those that requests of clients cause. */
const isOfRequest = (type: EventType) =>
  /^(?:incident|timeline_event|follow_up)\./.test(type) && type !== 'incident.update_due';

/** One complete message of every type, as published on the exchange. */
export const EXAMPLES = Object.fromEntries(
  (Object.keys(DATA) as EventType[]).map((type, index): [EventType, Envelope] => [
    type,
    {
      id: `018f4c2e-7b1a-4c3d-9e5f-0000000000${String(index + 10)}`,
      type,
      schema_version: 1,
      occurred_at: OCCURRED_AT[type] ?? incident.created_at,
      workspace,
      request_id: isOfRequest(type) ? 'req-7f3a' : null,
      data: isOfRequest(type) && type !== 'incident.deleted' ? { ...DATA[type], ...BY } : DATA[type],
    },
  ]),
) as Record<EventType, Envelope>;
