import type pg from 'pg';
import { withoutIndexes } from './bulk.ts';
import { seedRevenue } from './seed-revenue.ts';
import { createTextGrams } from './seed-text-grams.ts';
import type { Size } from './size.ts';
import { ENVIRONMENTS, PLACES, REGIONS, SERVICES, TEAMS, USERS } from './world.ts';

/** The time since a value of `performance.now()`, for people. */
export const secondsSince = (started: number) => `${((performance.now() - started) / 1_000).toFixed(1)} s`;

/** The incidents of the last two years, most of them resolved, with values, timelines, revenue and investigations. */
export async function seedIncidents(client: pg.Client, size: Size, print: (line: string) => void): Promise<void> {
  const step = async (what: string, work: () => Promise<number | null>) => {
    const started = performance.now();
    const rows = await work();
    print(`${what}: ${rows ?? 0} rows, ${secondsSince(started)}`);
  };
  const insert = async (statement: string, values: unknown[] = []) => (await client.query(statement, values)).rowCount;
  const started = performance.now();
  await withoutIndexes(client, ['incidents', 'incident_values', 'incident_mrr', 'timeline_events'], async () => {
    await client.query(DRAWS, [size.incidents, size.workspaces]);
    const lists = [SERVICES, REGIONS, ENVIRONMENTS, PLACES, TEAMS.length, USERS];
    await step('incidents', async () => insert(INCIDENTS, lists));
    await step('texts', async () => createTextGrams(client));
    await step('values', async () => insert(VALUES));
    await step('revenue', async () => seedRevenue(client));
    await step('timeline events', async () => insert(EVENTS));
  });
  await client.query(`
    insert into incident_counters (workspace_id, last)
    select workspace_id, max(number) from incidents group by workspace_id`);
  await client.query(`
    insert into service_references (workspace_id, value, incidents)
    select workspace_id, service, count(*) from incidents
    where archived_at is null and service <> '' group by workspace_id, service`);
  await client.query(`
    insert into mrr_currencies (workspace_id, currency)
    select distinct workspace_id, amount ->> 'currency' from incidents, jsonb_array_elements(mrr) as amount`);
  await client.query(`select setval(pg_get_serial_sequence('incidents', 'id'), max(id)) from incidents`);
  await client.query('vacuum analyze');
  print(`indexes and statistics: ${secondsSince(started)} in all`);
}

/** Random numbers for each incident. Each number decides one property, so that properties are independent. */
const DRAWS = `
  create temporary table draws as
  select n, case when n % 5 = 0 then 1 else 2 + floor(random() * ($2::int - 1))::int end as workspace_id,
    date_trunc('milliseconds', now() - interval '730 days' * (1 - n::float / $1::int)
      - interval '1 minute' * random()) as created_at,
    array(select random() from generate_series(1, 40) where n > 0) as r
  from generate_series(1, $1::int) as n`;

/** Low numbers select frequent values. One service in twenty is not in the catalog, and some incidents name none. */
const INCIDENTS = `
  insert into incidents (id, workspace_id, number, title, service, service_folded, regions, region_folded, region_keys,
    severity, severity_mode, status, status_changed_at, ended_at, issue_type, team_id, impact_summary,
    customer_impact_status, impact_started_at, incident_manager, incident_responders, custom_fields, event_count,
    last_event_at, last_event_summary, affected_customers, mrr, impact_as_of, latest_run, run_count, created_at,
      created_by,
    archived_at, archived_by)
  select n, workspace_id, row_number() over (partition by workspace_id order by n),
    (array['Elevated error rate', 'Slow responses', 'Failed payments', 'Failed logins', 'Growing backlog',
      'Lost messages'])
      [1 + floor(r[1] * 6)::int] || ' in ' || coalesce(nullif(service, ''), 'production'),
    service, nullif(lower(service), ''),
    regions, lower(regions[1]), array(select workspace_id || ' ' || lower(region) from unnest(regions) as region),
    (array['sev1', 'sev2', 'sev2', 'sev3', 'sev3', 'sev3', 'sev3', 'sev3', 'sev4',
      'sev4'])[1 + floor(r[2] * 10)::int], 'manual',
    status, changed_at, case when status in ('resolved', 'closed') then changed_at end,
    (array['ticket', 'incident', 'incident', 'incident', 'postmortem'])[1 + floor(r[3] * 5)::int],
    case when r[4] < 0.6 then (workspace_id - 1) * $5::int + 1 + floor(r[5] * $5::int)::int end,
    'Customers in some regions cannot complete their orders; a workaround is known and the teams are working on a fix.',
    (array['unknown', 'unknown', 'none', 'confirmed'])[1 + floor(r[6] * 4)::int],
    case when r[6] > 0.5 then created_at - r[7] * interval '1 hour' end,
    case when r[8] < 0.6 then first_user + floor(r[9] * $6::int)::int || '' else '' end,
    case when r[10] < 0.3 then array[first_user + floor(r[11] * $6::int)::int || ''] else '{}' end,
    values, events, last_event_at, case when events > 0 then 'Rolled back the last release' else '' end,
    case when has_impact then floor(r[12] ^ 2 * 5000) end, case when has_impact then amounts end,
      case when has_impact then created_at end,
    case when r[13] < 0.4 then jsonb_build_object('runId', 'run-' || n, 'status',
      (array['completed', 'completed', 'completed', 'queued', 'running', 'failed', 'cancelled',
        'unavailable'])[1 + floor(r[14] * 8)::int],
      'startedAt', to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'completedAt', null) end,
    case when r[13] < 0.4 then 1 else 0 end,
    created_at, first_user + floor(r[15] * $6::int)::int || '',
    case when r[16] < 0.05 then changed_at + interval '30 days' end,
    case when r[16] < 0.05 then first_user end
  from draws
  cross join lateral (select
    (workspace_id - 1) * $6::int + 1 as first_user,
    created_at + r[17] * interval '1 day' as changed_at,
    r[18] < 0.3 as has_impact,
    case when r[19] < 0.03 then '' when r[19] < 0.08 then 'legacy_' || floor(r[20] * 40)
      else ($1::text[])[1 + floor(r[20] ^ 2 * cardinality($1))::int] end as service,
    case when r[21] < 0.1 then '{}' else ($2::text[])[place : place + case when r[21] < 0.8 then 0 else 1 end] end
      as regions,
    case when n > (select max(n) * 0.99 from draws) and r[22] < 0.6 then 'open' when r[23] < 0.55 then 'closed'
      when r[23] < 0.93 then 'resolved' when r[23] < 0.95 then 'monitoring' when r[23] < 0.96 then 'on-hold'
      when r[23] < 0.98 then 'active' else 'open' end as status,
    case when r[24] < 0.6 then 0 else floor(1 + 3 * r[25] ^ 2)::int end as events,
    jsonb_build_array(jsonb_build_object('currency', 'USD', 'amount_minor', floor(r[26] ^ 2 * 10000000)))
      || case when r[27] < 0.3 then jsonb_build_array(jsonb_build_object('currency', 'EUR', 'amount_minor',
        floor(r[28] * 1000000)))
         else '[]' end as amounts,
    jsonb_strip_nulls(jsonb_build_object(
      'score', case when r[29] < 0.6 then floor(r[30] * 10000) end,
      'customer', case when r[31] < 0.5 then 'Customer ' || floor(r[32] ^ 2 * 5000) end,
      'environment', case when r[33] < 0.7 then ($3::text[])[1 + floor(r[34] ^ 2 * cardinality($3))::int] end,
      'public', case when r[35] < 0.2 then r[36] < 0.5 end,
      'review', case when r[37] < 0.2 then (created_at + interval '14 days')::date::text end,
      'shift', case when r[38] < 0.1 then lpad(floor(r[39] * 24)::text, 2, '0') || ':30' end,
      'detected', case when r[39] < 0.2 then to_char(created_at - r[40] * interval '1 hour',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end,
      'cost', case when r[40] < 0.3 then jsonb_build_object('amount', floor(r[7] * 100000) / 100,
        'currency', case when r[38] < 0.5 then 'EUR' else 'USD' end) end,
      'places', case when r[36] < 0.3
        then to_jsonb(($4::text[])[1 + floor(r[34] * 5)::int : 2 + floor(r[34] * 5)::int]) end,
      'links', case when r[32] < 0.02 then '{"runbook": "https://runbooks.example/errors"}'::jsonb end)) as values
    from (select 1 + floor(r[39] ^ 2 * cardinality($2::text[]))::int as place) as region) as drawn
  cross join lateral (
    select case when events > 0
      then date_trunc('milliseconds', created_at + r[37] * interval '2 days') end as last_event_at) as timeline`;

const VALUES = `
  insert into incident_values (workspace_id, incident_id, field_id, slug, field_type, value, text_value, text_folded,
    text_grams, number_value, currency, boolean_value, date_value, time_value, moment_value, options, option_keys,
      updated_at, updated_by)
  select incident.workspace_id, incident.id, field.id, field.slug, type, value, first, lower(first), grams,
    case type when 'number' then plain::numeric when 'monetary' then (value ->> 'amount')::numeric end,
      value ->> 'currency',
    case when type = 'boolean' then plain::boolean end,
    case when type = 'date' then plain::date end,
    case when type = 'time' then plain::time end,
    case when type = 'datetime' then plain::timestamptz end,
    options, case when type = 'multi_select' then array(select field.id || ' ' || option
      from unnest(options) as option) end, incident.created_at, incident.created_by
  from incidents as incident
  cross join lateral jsonb_each(incident.custom_fields) as entry(slug, value)
  join replica_fields as field on field.workspace_id = incident.workspace_id and field.slug = entry.slug
  cross join lateral (select field.definition ->> 'field_type' as type, value #>> '{}' as plain) as kind
  cross join lateral (select case when type = 'multi_select'
    then array(select jsonb_array_elements_text(value)) end as options) as several
  cross join lateral (select case when type in ('string', 'select') then plain else options[1] end as first) as text
  left join text_grams on type = 'string' and text_grams.field_id = field.id and text_grams.text = first`;

const EVENTS = `
  insert into timeline_events (workspace_id, incident_id, revision, started_at, is_ongoing, is_key, source,
    source_ref, type, icon,
    title, body, collaboration_generation, tags, ai_context, created_by, evidence_links, source_folded, type_folded,
    tags_folded, texts_folded)
  select workspace_id, id, 1, last_event_at - (event_count - nth) * interval '10 minutes', false, false, 'api', '',
    'note', '',
    '', last_event_summary, 1, '{}', '', created_by, '[]', 'api', 'note', '{}', array[lower(last_event_summary)]
  from incidents cross join lateral generate_series(1, event_count) as nth
  where event_count > 0`;
