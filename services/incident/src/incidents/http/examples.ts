import type { z } from 'zod';
import type { incident } from './wire.ts';

export const incidentExample: z.input<typeof incident> = {
  id: 1,
  revision: 4,
  company_id: 1,
  human_id: 'INC-1',
  title: 'Checkout answers slowly',
  service: 'checkout',
  regions: ['eu-west-1'],
  severity: 'sev2',
  slack_channel_id: '',
  meet_url: '',
  doc_url: '',
  status: 'active',
  status_changed_at: '2026-11-20T09:32:10.000Z',
  last_event_at: '2026-11-20T09:34:00.000Z',
  last_event_summary: 'Doubled the pool; latency is falling',
  issue_type: 'incident',
  severity_mode: 'manual',
  impact_summary: 'One order in ten takes over ten seconds',
  customer_impact_status: 'confirmed',
  impact_started_at: '2026-11-20T09:25:00.000Z',
  first_reported_at: '2026-11-20T09:28:00.000Z',
  first_responded_at: '2026-11-20T09:31:00.000Z',
  recovered_at: null,
  duration_seconds: 840,
  duration_anchor: 'impact_started_at',
  team_id: 1,
  event_count: 2,
  investigation_summary: null,
  created_at: '2026-11-20T09:30:00.000Z',
  created_by: '1',
  custom_fields: { root_cause: 'capacity', affected_orders: 1250 },
  archived_at: null,
  archived_by: null,
  incident_manager: '1',
  incident_responders: ['1'],
  has_assignees: true,
};

/** An opaque cursor; clients send it back unchanged. */
export const CURSOR = 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJBbImNyZWF0ZWQiLDE3XQ';

/** `INC-1` of the sample workspace. */
export const params = { id: 1 };
