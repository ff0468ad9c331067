// The parts of the API's resources that the console shows.

export interface Pagination {
  has_more: boolean;
  next_cursor?: string;
}

export interface Incident {
  id: number;
  revision: number;
  human_id: string;
  title: string;
  service: string;
  regions: string[];
  severity: string;
  status: string;
  status_changed_at: string | null;
  issue_type: 'ticket' | 'incident' | 'postmortem';
  impact_summary: string;
  customer_impact_status: 'unknown' | 'none' | 'confirmed';
  impact_started_at: string | null;
  first_reported_at: string | null;
  first_responded_at: string | null;
  recovered_at: string | null;
  duration_seconds: number;
  team_id: number | null;
  event_count: number;
  last_event_at: string | null;
  last_event_summary: string;
  created_at: string;
  created_by: string;
  custom_fields: Record<string, unknown>;
  archived_at: string | null;
  incident_manager: string;
  incident_responders: string[];
  slack_channel_id: string;
  meet_url: string;
  doc_url: string;
}

export interface IncidentPage {
  incidents: Incident[];
  pagination: Pagination;
  collection_counts?: { matched: number; all: number; ongoing: number; by_status: Record<string, number> };
}

export interface TimelineEvent {
  id: number;
  revision: number;
  started_at: string;
  is_key: boolean;
  source: string;
  type: string;
  title: string;
  body: string;
  tags: string[];
  created_by: string;
}

export interface ChangelogEntry {
  id: number;
  revision: number;
  actor: string;
  changed_at: string;
  changes: { field: string; from?: unknown; to?: unknown }[];
}

export interface Entry {
  key: string;
  label: string;
  is_default: boolean;
}

export interface Status extends Entry {
  is_terminal: boolean;
}

export interface Severity extends Entry {
  min_score: number;
  description: string;
}

export interface Tier extends Entry {
  description: string;
}

export interface Configuration {
  revision: number;
  workflow_statuses: (Status & { is_escalation_threshold: boolean })[];
  severities: Severity[];
  service_tiers: Tier[];
  exchange_rates: { currency: string; rate: number; as_of: string }[];
  timeline_groups: { id: number; name: string }[];
}

export interface Service {
  id: number;
  revision: number;
  name: string;
  slug: string;
  tier: string;
  owner_team_id?: number;
  owner_team_name?: string;
  description?: string;
  tags: string[];
  archived_at?: string;
}

export interface Team {
  id: number;
  revision: number;
  name: string;
  slug: string;
  description?: string;
  member_count?: number;
  archived_at?: string;
}

export interface Member {
  user_id: number;
  name: string;
  email: string;
  role: 'member' | 'lead';
}

export interface CustomField {
  id: number;
  revision: number;
  name: string;
  slug: string;
  field_type:
    | 'string'
    | 'number'
    | 'boolean'
    | 'date'
    | 'time'
    | 'datetime'
    | 'monetary'
    | 'json'
    | 'select'
    | 'multi_select';
  description?: string;
  category: string;
  required: boolean;
  show_on_creation: boolean;
  required_on_creation: boolean;
  config?: { currency?: string; currencies?: string[]; options?: (string | { value: string; label?: string })[] };
  archived_at?: string;
}

export interface Webhook {
  id: string;
  name: string | null;
  url: string;
  status: 'active' | 'paused' | 'revoked';
  created_at: string;
  last_success_at: string | null;
  last_failure_at: string | null;
}

export const ROLES = ['owner', 'admin', 'manager', 'member', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

export interface User {
  id: number;
  revision: number;
  email: string;
  name: string;
  role: Role;
  seat: 'responder' | 'none';
  active: boolean;
}

export interface ApiKey {
  id: number;
  revision: number;
  user_id: number;
  name: string;
  prefix: string;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

export interface Session {
  id: number;
  user_id: number;
  name: string;
  current: boolean;
  created_at: string;
  last_used_at: string | null;
}

export interface Me {
  workspace: { id: number; slug: string; name: string; demo: boolean };
  user: Omit<User, 'revision'>;
  permissions: string[];
  api_key: { id: number; scopes: string[] };
}

export interface Durations {
  incidents: number;
  median_seconds: number;
  p90_seconds: number;
}

export interface Measured {
  time_to_response: Durations | null;
  time_to_recovery: Durations | null;
}

export interface Statistics {
  bucket: 'day' | 'week' | 'month';
  buckets: { starts_at: string; incidents: number; by_severity: Record<string, number> }[];
  by_service: (Measured & { service: string })[];
  by_team: (Measured & { team_id: number | null })[];
}

export interface Provisioning {
  status: 'not_requested' | 'pending' | 'running' | 'succeeded' | 'failed' | 'partial';
  steps: { key: string; status: string; attempts: number; error_code?: string }[];
}
