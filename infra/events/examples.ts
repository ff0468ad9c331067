import type { Envelope, EventData, EventType, IncidentSnapshot } from '@tocsin/contracts';

const workspace = { id: 1, slug: 'acme', is_demo: false };

const incident: IncidentSnapshot = {
  id: 17,
  reference: 'INC-17',
  revision: 1,
  title: 'Checkout is down',
  service: 'checkout',
  regions: ['eu-west'],
  severity: 'sev1',
  status: 'open',
  issue_type: 'incident',
  impact_summary: '',
  team_id: 3,
  created_at: '2026-11-20T09:30:00.000Z',
  created_by: '42',
  archived_at: null,
};

const DATA: { [Type in EventType]: EventData<Type> } = {
  'incident.created': { incident },
  'incident.updated': {
    incident: { ...incident, revision: 2, status: 'monitoring' },
    changes: [{ field: 'status', from: 'open', to: 'monitoring' }],
  },
  'incident.archived': { incident: { ...incident, revision: 3, archived_at: '2026-11-21T08:00:00.000Z' } },
  'incident.restored': { incident: { ...incident, revision: 4 } },
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
};

const OCCURRED_AT: Partial<Record<EventType, string>> = {
  'incident.archived': '2026-11-21T08:00:00.000Z',
  'incident.restored': '2026-11-21T09:00:00.000Z',
};

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
      request_id: type.startsWith('incident.') ? 'req-7f3a' : null,
      data: DATA[type],
    },
  ]),
) as Record<EventType, Envelope>;
