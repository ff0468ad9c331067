import type { CustomField, NewCustomField, NewIncident, Tocsin } from '@tocsin/sdk';

const TEAMS = [
  { name: 'Payments', description: 'Everything between the basket and the receipt' },
  { name: 'Platform', description: 'What the other teams run on' },
];

const SERVICES = [
  { name: 'Checkout', tier: 't0', team: 'Payments', tags: ['customer-facing'], description: 'Takes the money' },
  { name: 'Search', tier: 't1', team: 'Platform', tags: ['customer-facing'], description: 'Finds the products' },
  { name: 'Reports', tier: 't3', team: 'Platform', tags: [], description: 'Counts what happened' },
];

const FIELDS: readonly NewCustomField[] = [
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

/** Incidents with the values of their fields by slug, their timeline, what is left to do, and how they were resolved. */
const INCIDENTS: readonly (NewIncident & {
  values: Readonly<Record<string, string | number>>;
  notes: readonly string[];
  followUp?: string;
  resolution?: string;
})[] = [
  {
    title: 'Checkout answers slowly',
    service: 'checkout',
    severity: 'sev2',
    regions: ['eu-west-1'],
    impact_summary: 'One order in ten takes over ten seconds',
    customer_impact_status: 'confirmed',
    values: { root_cause: 'capacity', affected_orders: 1_250 },
    notes: ['The connection pool of the order database is exhausted', 'Doubled the pool; latency is falling'],
    followUp: 'Alert on the size of the connection pool',
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

/** Adds sample data to a workspace without incidents. Can be repeated after an interruption. */
export async function addSampleData(api: Tocsin): Promise<void> {
  const { incidents } = await api.incidents.list({ limit: 1 }).page();
  if (incidents.length > 0) return;

  const teams = new Map<string, number>();
  for (const team of TEAMS) teams.set(team.name, (await api.teams.create(team, keyOf(team.name))).team.id);
  for (const { team, ...service } of SERVICES)
    await api.services.create({ ...service, owner_team_id: teams.get(team) }, keyOf(service.name));
  const fields = await addFields(api);
  for (const { values, notes, followUp, resolution, ...sample } of INCIDENTS) {
    const custom_field_values = fields
      .filter(({ slug }) => slug in values)
      .map(({ id, slug }) => ({ field_id: id, value: values[slug] }));
    const { incident } = await api.incidents.create({ ...sample, custom_field_values }, keyOf(sample.title));
    for (const body of notes) await api.timeline.create(incident.id, { body }, keyOf(body));
    if (followUp !== undefined) await api.followUps.create(incident.id, { title: followUp }, keyOf(followUp));
    if (resolution !== undefined) await api.incidents.resolve(incident.id, { resolution_note: resolution });
  }
}

/** Returns all fields. Fields take no idempotency key, so fields of an earlier attempt are looked up. */
async function addFields(api: Tocsin): Promise<CustomField[]> {
  const fields = await Array.fromAsync(api.customFields.list());
  for (const field of FIELDS) {
    if (fields.some(({ slug }) => slug === field.slug)) continue;
    fields.push((await api.customFields.create({ ...field, show_on_creation: true })).field);
  }
  return fields;
}

const keyOf = (name: string) => ({
  idempotencyKey: `sample-data:${name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`,
});
