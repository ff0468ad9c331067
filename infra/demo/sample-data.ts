import type { WorkspaceApi } from './api.ts';

const TEAMS = [
  { name: 'Payments', description: 'Everything between the basket and the receipt' },
  { name: 'Platform', description: 'What the other teams run on' },
];

const SERVICES = [
  { name: 'Checkout', tier: 't0', team: 'Payments', tags: ['customer-facing'], description: 'Takes the money' },
  { name: 'Search', tier: 't1', team: 'Platform', tags: ['customer-facing'], description: 'Finds the products' },
  { name: 'Reports', tier: 't3', team: 'Platform', tags: [], description: 'Counts what happened' },
];

const FIELDS = [
  {
    name: 'Root cause',
    slug: 'root_cause',
    field_type: 'select',
    category: 'analysis',
    config: { options: ['change', 'capacity', 'dependency'] },
  },
  {
    name: 'Affected orders',
    slug: 'affected_orders',
    field_type: 'number',
    category: 'impact',
    config: { min: 0, precision: 0 },
  },
];

const INCIDENTS = [
  {
    title: 'Checkout answers slowly',
    service: 'checkout',
    severity: 'sev2',
    regions: ['eu-west-1'],
    impact_summary: 'One order in ten takes over ten seconds',
    customer_impact_status: 'confirmed',
    values: { root_cause: 'capacity', affected_orders: 1_250 },
    notes: ['The connection pool of the order database is exhausted', 'Doubled the pool; latency is falling'],
  },
  {
    title: 'Search results are out of date',
    service: 'search',
    severity: 'sev3',
    status: 'monitoring',
    regions: ['eu-west-1', 'us-east-1'],
    // Fails until a Slack is connected, and can then be retried.
    create_slack_channel: true,
    short_title: 'search',
    values: {},
    notes: ['The indexer was stopped by a full disk'],
  },
  {
    title: 'Nightly report is missing',
    service: 'reports',
    severity: 'sev4',
    regions: [],
    values: { root_cause: 'change' },
    notes: [],
    resolution: 'A renamed column; the report was run again',
  },
];

interface Named {
  id: number;
  name: string;
  slug: string;
}

/** Adds sample data to a workspace without incidents. Can be repeated after an interruption. */
export async function addSampleData(api: WorkspaceApi): Promise<void> {
  const { incidents } = await api.get<{ incidents: unknown[] }>('/api/v1/incidents?limit=1');
  if (incidents.length > 0) return;

  const teams = new Map<string, number>();
  for (const team of TEAMS)
    teams.set(team.name, (await api.post<{ team: Named }>('/api/v1/teams', team, keyOf(team.name))).team.id);
  for (const { team, ...service } of SERVICES) {
    await api.post('/api/v1/services', { ...service, owner_team_id: teams.get(team) }, keyOf(service.name));
  }
  const fields = await addFields(api);
  for (const { values, notes, resolution, ...incident } of INCIDENTS) {
    const custom_field_values = Object.entries(values).map(([slug, value]) => ({ field_id: fields.get(slug), value }));
    const declared = await api.post<{ incident: { id: number } }>(
      '/api/v1/incidents',
      { ...incident, custom_field_values },
      keyOf(incident.title),
    );
    const path = `/api/v1/incidents/${declared.incident.id}`;
    for (const body of notes) await api.post(`${path}/timeline`, { body }, keyOf(body));
    if (resolution !== undefined) await api.post(`${path}/resolve`, { resolution_note: resolution });
  }
}

/** Returns the IDs by slug. Fields take no idempotency key, so fields of an earlier attempt are looked up. */
async function addFields(api: WorkspaceApi): Promise<Map<string, number>> {
  const { fields } = await api.get<{ fields: Named[] }>('/api/v1/custom-fields');
  for (const field of FIELDS) {
    if (fields.some(({ slug }) => slug === field.slug)) continue;
    fields.push(
      (await api.post<{ field: Named }>('/api/v1/custom-fields', { ...field, show_on_creation: true })).field,
    );
  }
  return new Map(fields.map(({ id, slug }) => [slug, id]));
}

const keyOf = (name: string) => `sample-data:${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
