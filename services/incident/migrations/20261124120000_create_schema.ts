import { createIdempotencyTable } from '@tocsin/http';
import { createDeadLetterTable, createInboxTable, createOutboxTable } from '@tocsin/messaging';
import { addWorkspaceKey, belongsTo, type Knex } from '@tocsin/postgres';

const CREATED_BY_KEY = '{ name, prefix } of the API key that created it; null: not known';

export async function up(knex: Knex): Promise<void> {
  await createOutboxTable(knex);
  await createDeadLetterTable(knex);
  await createInboxTable(knex);
  await createIdempotencyTable(knex);
  await createConfigurations(knex);
  await createReplicas(knex);
  await createIncidents(knex);
  await createValues(knex);
  await createListIndexes(knex);
  await createServiceReferences(knex);
  await createTimeline(knex);
  await createRelations(knex);
  await createFollowUps(knex);
  await createTrackers(knex);
  await createChat(knex);
  await createAlerts(knex);
  await createNotifications(knex);
  await createHeartbeats(knex);
  await createStorage(knex);
}

/** A workspace without a row has the defaults of `domain/configuration.ts`. */
async function createConfigurations(knex: Knex): Promise<void> {
  await knex.schema.createTable('configurations', (table) => {
    table.bigInteger('workspace_id').primary();
    table.jsonb('workflow_statuses').comment('the whole list, in workflow order');
    table.jsonb('severities').comment('the whole list, most severe first');
    table.jsonb('incident_roles').comment('the whole list');
    table.jsonb('exchange_rates').comment('by currency');
    table.text('time_zone').comment('a name of the IANA time zone database; null: UTC');
    table.text('on_call_lead').comment('whether who is on call leads new incidents; null: off');
    table.text('postmortem_template').comment('Markdown with placeholders; null or empty: the built-in one');
    // For service tiers that change together with the rest of a workspace's configuration (ADR 55).
    table
      .bigInteger('tiers_version')
      .notNullable()
      .defaultTo(0)
      .comment('the version of the latest list of service tiers, which the catalog stores, that was committed');
  });
  await knex.schema.createTable('retentions', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('revision').notNullable();
    table.jsonb('retention').notNullable().comment('by kind: days, and from when on they apply; null: for ever');
    table.jsonb('set_by').notNullable().comment('the principal of the latest change, in whose name is deleted');
  });
  // Changes for which the gateway has not raised the workspace's version yet.
  await knex.schema.createTable('unannounced_configurations', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('version').notNullable().comment('the configuration_version of the latest change');
  });
}

/**
 * What this service needs to know of other services' data. `version` is the owner's version of the workspace at which a
 * row was as it stands here; older news of it is ignored.
 */
async function createReplicas(knex: Knex): Promise<void> {
  await knex.schema.createTable('replica_versions', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.text('owner').notNullable();
    table.bigInteger('version').notNullable().comment('everything up to it is here');
    table
      .bigInteger('workspace_version')
      .notNullable()
      .comment("the gateway's version of the workspace when last asked");
    table
      .text('position')
      .comment('of a pull that is not complete; null: the replica has all changes up to the version');
    table.primary(['workspace_id', 'owner']);
  });
  await knex.schema.createTable('replica_users', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('id').notNullable();
    table.boolean('active').notNullable();
    table.bigInteger('version').notNullable();
    table.primary(['workspace_id', 'id']);
  });
  await knex.schema.createTable('replica_teams', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('id').notNullable();
    table.text('name').notNullable();
    table.text('slug').notNullable();
    table.timestamp('archived_at', { precision: 3 });
    table.bigInteger('version').notNullable();
    table.primary(['workspace_id', 'id']);
  });
  await knex.schema.createTable('replica_services', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('id').notNullable();
    table.text('slug').notNullable();
    table.text('tier').notNullable();
    table.bigInteger('owner_team_id');
    table.specificType('observability_names', 'text[]').notNullable().defaultTo('{}');
    table.timestamp('archived_at', { precision: 3 });
    table.bigInteger('version').notNullable();
    table.primary(['workspace_id', 'id']);
    table.unique(['workspace_id', 'slug']);
  });
  await knex.schema.createTable('replica_tiers', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.text('key').notNullable();
    table.integer('rank').notNullable();
    table.primary(['workspace_id', 'key']);
  });
  await knex.schema.createTable('replica_fields', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('id').notNullable();
    table.text('slug').notNullable();
    table.timestamp('archived_at', { precision: 3 });
    table.jsonb('definition').notNullable();
    table.bigInteger('version').notNullable();
    table.primary(['workspace_id', 'id']);
    table.unique(['workspace_id', 'slug']);
  });
}

// One list of columns.
// oxlint-disable-next-line eslint/max-lines-per-function
async function createIncidents(knex: Knex): Promise<void> {
  const folded = 'text collate "C"';
  await knex.schema.createTable('incident_counters', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('last').notNullable();
    // In the row that every create locks anyway: it writes nothing that was judged by an older configuration.
    table
      .bigInteger('configuration_version')
      .notNullable()
      .defaultTo(0)
      .comment("counts the changes of the workspace's row in configurations");
  });
  await knex.raw(`
    create function incident_viewers(
      created_by text, manager text, responders text[], roles jsonb, visible_to jsonb)
    returns text[] language sql immutable parallel safe as $$
      select array['*', created_by, manager] || responders
        || array(select jsonb_array_elements_text(holders) from jsonb_each(roles) as role (key, holders))
        || array(select jsonb_array_elements_text(visible_to -> 'users'))
        || array(select 'team:' || id from jsonb_array_elements_text(visible_to -> 'teams') as team (id))
    $$`);
  // oxlint-disable-next-line eslint/max-lines-per-function
  await knex.schema.createTable('incidents', (table) => {
    const moment = (name: string) => table.timestamp(name, { precision: 3 });
    addWorkspaceKey(table);
    table.bigInteger('number').notNullable().comment('counts from 1 in each workspace; the human ID is INC-<number>');
    table.bigInteger('revision').notNullable().defaultTo(1);
    table.text('title').notNullable();
    table.text('service').notNullable().defaultTo('');
    table.specificType('regions', 'text[]').notNullable().defaultTo('{}');
    table.text('severity').notNullable();
    table.text('severity_mode').notNullable();
    table.text('status').notNullable();
    moment('status_changed_at');
    table.text('issue_type').notNullable();
    table.bigInteger('team_id');
    table.text('slack_channel_id').notNullable().defaultTo('');
    table.text('meet_url').notNullable().defaultTo('');
    table.text('doc_url').notNullable().defaultTo('');
    table.text('impact_summary').notNullable().defaultTo('');
    table.text('short_title').notNullable().defaultTo('').comment('a part of names of chat channels');
    table.text('customer_impact_status').notNullable();
    moment('impact_started_at');
    moment('first_reported_at');
    moment('first_responded_at');
    moment('first_acted_at').comment('when a person who did not create it first acted on it; null: nobody has');
    moment('recovered_at');
    moment('next_update_at');
    moment('ended_at').comment('the last change into a terminal status, while the status is terminal');
    table.text('incident_manager').notNullable().defaultTo('');
    table.specificType('incident_responders', 'text[]').notNullable().defaultTo('{}');
    table.jsonb('custom_fields').notNullable().defaultTo('{}');
    table.boolean('restricted').notNullable().defaultTo(false);
    table.jsonb('visible_to').notNullable().defaultTo('{"users":[],"teams":[]}');
    table.jsonb('roles').notNullable().defaultTo('{}').comment('lists of holders, as text, by the keys of their roles');
    table.bigInteger('event_count').notNullable().defaultTo(0);
    moment('last_event_at');
    table.text('last_event_summary').notNullable().defaultTo('');
    table.bigInteger('affected_customers').comment('null: never told');
    table.jsonb('mrr').comment('[{ currency, amount_minor }]; null: never told');
    moment('impact_as_of');
    table.jsonb('latest_run').comment('the investigation run that started last');
    table.bigInteger('run_count').notNullable().defaultTo(0);
    moment('created_at').notNullable();
    table.text('created_by').notNullable();
    table.jsonb('created_by_key').comment(CREATED_BY_KEY);
    table
      .boolean('is_unhandled_alert')
      .notNullable()
      .defaultTo(false)
      .comment('an alert declared it, and nobody has acted on it since');
    table.jsonb('update_reminder').comment('the workspace that incident.update_due names; null: nothing to publish');
    table.boolean('is_duplicate').notNullable().defaultTo(false).comment('it is a duplicate of another incident');
    moment('archived_at');
    table.bigInteger('archived_by');
    table.text('external_id').comment('in another system; null: none');
    table.text('external_url').notNullable().defaultTo('').comment('in the system that it was imported from');
    moment('imported_at').comment('null: it was created here');
    table
      .specificType(
        'viewers',
        `text[] generated always as (case when restricted then
          incident_viewers(created_by, incident_manager, incident_responders, roles, visible_to) end) stored`,
      )
      .comment('the names of those who may see it; null: everybody may');
    // What lists filter, sort and count by, see createListIndexes.
    table.specificType('service_folded', folded);
    table.specificType('region_folded', folded).comment('the first region');
    table
      .specificType('region_keys', 'text[] collate "C"')
      .notNullable()
      .defaultTo('{}')
      .comment('<workspace_id> <folded region>');
    table
      .specificType('role_keys', 'text[] collate "C"')
      .notNullable()
      .defaultTo('{}')
      .comment('<workspace_id> <key of a role with holders>, and the same with :<ID of each of them>');
    // What q of lists searches, folded by shared/domain/fold.ts.
    table.specificType('title_folded', folded);
    table.specificType('impact_summary_folded', folded);
    table.specificType('owner_folded', `${folded} generated always as (nullif(incident_manager, '')) stored`);
    table
      .specificType(
        'diagnosis',
        `smallint generated always as (
          case latest_run ->> 'status'
            when 'queued' then 1 when 'running' then 1
            when 'completed' then 2
            when 'failed' then 3 when 'cancelled' then 3
            when 'unavailable' then 4
            else 0
          end) stored`,
      )
      .notNullable()
      .comment('the place of the diagnosis in domain/diagnosis.ts');
  });
  // Its condition is always true. Without it, PostgreSQL takes this index for the primary key where it knows no row of a workspace
  // yet: both have one row then.
  await knex.raw('create unique index incidents_by_number on incidents (workspace_id, number) where number > 0');
  // Commands in a channel are about its incident.
  await knex.raw(
    "create index incidents_by_channel on incidents (workspace_id, slack_channel_id) where slack_channel_id <> ''",
  );

  await knex.schema.createTable('changelog', (table) => {
    addWorkspaceKey(table);
    table.bigInteger('incident_id').notNullable();
    table.bigInteger('revision').notNullable();
    table.text('actor').notNullable();
    table.timestamp('changed_at', { precision: 3 }).notNullable();
    table.jsonb('changes').notNullable().comment('[{ field, from, to }]');
    table.text('api_key_name').comment('of the API key that was used, at that time; null: the system, or not known');
    table.text('api_key_prefix').comment('the first characters of its token');
    table.boolean('is_of_parts').notNullable().defaultTo(false).comment('of timeline events or a follow-up');
    table
      .text('import_key')
      .comment('digest of what an import brought as this entry; empty: what an import changed; null: other changes');
    belongsTo(table, 'incidents', 'incident_id');
    table.index(['workspace_id', 'incident_id', 'id']);
  });

  await knex.schema.createTable('incident_accesses', (table) => {
    addWorkspaceKey(table);
    table.bigInteger('incident_id').notNullable();
    table.bigInteger('user_id').notNullable();
    table.text('key_name');
    table.text('key_prefix').notNullable().comment('of the API key that was used; empty: not known');
    const moment = (name: string) => table.timestamp(name, { precision: 3 }).notNullable();
    moment('hour').comment('the start of the hour of all accesses of the row');
    moment('first_at');
    moment('last_at');
    table.bigInteger('count').notNullable();
    belongsTo(table, 'incidents', 'incident_id');
    table.unique(['workspace_id', 'incident_id', 'user_id', 'key_prefix', 'hour']);
    table.index(['workspace_id', 'incident_id', 'id']);
    table.index(['workspace_id', 'hour']);
  });

  await knex.schema.createTable('investigation_runs', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('incident_id').notNullable();
    table.text('run_id').notNullable();
    table.text('status').notNullable();
    table.timestamp('started_at', { precision: 3 }).notNullable();
    table.timestamp('completed_at', { precision: 3 });
    table.timestamp('told_at', { precision: 3 }).notNullable().comment('when the event that said so occurred');
    belongsTo(table, 'incidents', 'incident_id');
    table.primary(['workspace_id', 'incident_id', 'run_id']);
  });
}

/**
 * The custom-field values of incidents, one row each, beside the jsonb that the resource shows: lists filter and sort by
 * the typed columns, of which a row fills those of its field's type (`store/value-row.ts`).
 */
async function createValues(knex: Knex): Promise<void> {
  await knex.schema.createTable('incident_values', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('incident_id').notNullable();
    table.bigInteger('field_id').notNullable();
    table.text('slug').notNullable();
    table.text('field_type').notNullable();
    table.jsonb('value').notNullable().comment('as it was sent');
    table.text('text_value').comment('string, select; the first of multi_select');
    table.specificType('text_folded', 'text collate "C"').comment('text_value, folded by domain/fold.ts');
    table.specificType('text_grams', 'bigint[]').comment('string; the grams of text_folded by store/text-grams.ts');
    table.specificType('number_value', 'numeric').comment('number; the amount of monetary');
    table.specificType('currency', 'text collate "C"').comment('monetary');
    table.boolean('boolean_value').comment('boolean');
    table.date('date_value').comment('date');
    table.time('time_value').comment('time');
    table.timestamp('moment_value', { precision: 3 }).comment('datetime');
    table.specificType('options', 'text[]').comment('multi_select, in the order sent');
    table.specificType('option_keys', 'text[]').comment("options, each '<field_id> <its beginning>'");
    table.timestamp('updated_at', { precision: 3 }).notNullable();
    table.text('updated_by').notNullable();
    belongsTo(table, 'incidents', 'incident_id');
    table.primary(['workspace_id', 'incident_id', 'field_id']);
  });
  // Texts are indexed, and sorted, by their beginning: a whole one may be longer than an index entry or a cursor can be.
  const keys = {
    text: ['left(text_folded, 128)', 'text_folded'],
    number: ['number_value', 'number_value'],
    money: ['currency, number_value', 'currency'],
    boolean: ['boolean_value', 'boolean_value'],
    date: ['date_value', 'date_value'],
    time: ['time_value', 'time_value'],
    moment: ['moment_value', 'moment_value'],
  } as const;
  for (const [name, [key, column]] of Object.entries(keys)) {
    await knex.raw(`
      create index incident_values_by_${name} on incident_values (workspace_id, field_id, ${key}, incident_id)
      where ${column} is not null`);
  }
  // A GIN index takes no other column: the keys begin with the field, so that a search stays within it.
  await knex.raw(`
    create index incident_values_by_option on incident_values using gin (option_keys) where options is not null`);
  // What was written last waits in a list, which every search reads: a short one costs searches less than it saves writes.
  await knex.raw(`
    create index incident_values_by_gram on incident_values using gin (text_grams)
    with (gin_pending_list_limit = 1024) where text_grams is not null`);
}

/**
 * What lists of incidents filter, sort and count by (contract: Incident lists). The `folded` columns hold text as lists
 * compare it, folded by `domain/fold.ts` and compared by bytes: a database's own idea of case and order depends on its
 * locale. They are null where there is no text, which sorts last.
 *
 * Every index begins with the workspace, so no list grows with the number of workspaces, and those of one sort end with
 * the ID, which breaks its ties. They hold null as well: the incidents without a value are a range of the same index.
 */
async function createListIndexes(knex: Knex): Promise<void> {
  // The order of lists unless they are sorted. The columns that it carries along make counts, and searches for what is
  // rare, a walk through this index alone.
  await knex.raw(`
    create index incidents_active_by_creation on incidents (workspace_id, created_at, id)
    include (status, severity, issue_type, customer_impact_status, restricted) where archived_at is null`);
  for (const column of SORTED) {
    await knex.raw(`
      create index incidents_active_by_${column} on incidents (workspace_id, ${column}, id) where archived_at is null`);
  }
  // Holds all that statistics of durations read. A create writes no entry: nobody has acted, and nothing has an end yet.
  await knex.raw(`
    create index incidents_active_with_a_duration on incidents (workspace_id, created_at)
    include (service, team_id, severity, status, impact_started_at, first_reported_at, first_responded_at,
      first_acted_at, recovered_at, ended_at, restricted)
    where archived_at is null and (first_responded_at is not null or first_acted_at is not null
      or recovered_at is not null or ended_at is not null)`);
  await knex.raw(`
    create index incidents_unhandled_alerts on incidents (workspace_id, created_at, id) where is_unhandled_alert`);
  await knex.raw(`
    create index incidents_with_a_next_update on incidents (workspace_id, next_update_at)
    where next_update_at is not null and ended_at is null and archived_at is null`);
  // Read whole, for the events of all workspaces: what is published is no longer in it.
  await knex.raw(`
    create index incidents_with_a_reminder on incidents (workspace_id, next_update_at)
    where update_reminder is not null and ended_at is null and archived_at is null`);
  // In PL/pgSQL, so that its statement is planned once for a session, and not with each list.
  await knex.raw(`
    create function visible_restricted(workspace bigint, names text[])
    returns setof bigint language plpgsql stable parallel safe rows 10 as $$
    begin
      return query select id from incidents where workspace_id = workspace and restricted and viewers && names;
    end $$`);
  await knex.raw('create index incidents_restricted on incidents (workspace_id, created_at, id) where restricted');
  await knex.raw('create index incidents_duplicates on incidents (workspace_id, created_at, id) where is_duplicate');
  await knex.raw(`
    create unique index incidents_by_external_id on incidents (workspace_id, external_id)
    where external_id is not null`);
  // An incident has several regions. Its keys begin with the workspace, because a GIN index takes no other column.
  await knex.raw(`
    create index incidents_active_by_region on incidents using gin (region_keys) where archived_at is null`);
  await knex.raw(`
    create index incidents_active_by_role on incidents using gin (role_keys)
    where archived_at is null and role_keys <> '{}'`);
  // A team or a field is one workspace's, and a service folded says no more than the service: to a planner that does not know
  // it, a filter by them seems far rarer than it is, and it sorts all that passes instead of walking until the page is full.
  await knex.raw(`
    create statistics incidents_by_columns_that_go_together (dependencies)
    on workspace_id, team_id, service, service_folded from incidents`);
  await knex.raw(`
    create statistics incident_values_by_columns_that_go_together (dependencies)
    on workspace_id, field_id from incident_values`);
  await knex.schema.createTable('mrr_currencies', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.specificType('currency', 'text collate "C"').notNullable().comment('in which revenue at stake was told');
    table.primary(['workspace_id', 'currency']);
  });
  await createMrr(knex);
  await knex.raw(`
    create index incidents_archived on incidents (workspace_id, archived_at, id) where archived_at is not null`);
}

/**
 * The revenue of incidents again, a row for each currency that adds to it (`store/mrr-parts.ts`). A converted sum lies
 * between bounds that follow from its amounts and their total, so a range of the index holds it, whatever the rates are
 * (`store/list/mrr-stretches.ts`).
 */
async function createMrr(knex: Knex): Promise<void> {
  await knex.schema.createTable('incident_mrr', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('incident_id').notNullable();
    table
      .specificType('currencies', 'text collate "C"')
      .notNullable()
      .comment("the incident's, sorted; after a slash those of which nothing is at stake: EUR USD/GBP");
    table.specificType('currency', 'text collate "C"').notNullable().comment('empty in the only row of no revenue');
    table.specificType('amount_minor', 'numeric').notNullable();
    table.specificType('total_minor', 'numeric').notNullable().comment('of all currencies, as if they were one');
    belongsTo(table, 'incidents', 'incident_id');
    table.primary(['workspace_id', 'incident_id', 'currency']);
  });
  await knex.raw(`
    create index incident_mrr_by_amount
    on incident_mrr (workspace_id, currencies, currency, amount_minor, total_minor, incident_id)`);
}

/** Columns of the sorts that go by what an incident's own row holds. */
const SORTED = [
  'impact_started_at',
  'status',
  'severity',
  'service_folded',
  'region_folded',
  'team_id',
  'owner_folded',
  'last_event_at',
  'event_count',
  'affected_customers',
  'diagnosis',
];

/** How many incidents that are not archived name each text as their service. */
async function createServiceReferences(knex: Knex): Promise<void> {
  await knex.schema.createTable('service_references', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.specificType('value', 'text collate "C"').notNullable();
    table.bigInteger('incidents').notNullable();
    table
      .specificType('rank', 'bigint generated always as (least(incidents, 1000)) stored')
      .comment('an index on a number that every create raises would grow with each of them');
    table.primary(['workspace_id', 'value']);
  });
  // Room for the next version of a row in its page, so that no index changes.
  await knex.raw('alter table service_references set (fillfactor = 70)');
  await knex.raw('create index service_references_by_rank on service_references (workspace_id, rank desc, value)');
}

/**
 * Timelines. The `folded` columns hold what is found without regard to case, folded by `domain/fold.ts`: a database's own
 * idea of case depends on its locale. They compare by bytes.
 */
async function createTimeline(knex: Knex): Promise<void> {
  const folded = 'text collate "C"';
  const foldedList = 'text[] collate "C"';

  await knex.schema.createTable('timeline_groups', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('id').notNullable().comment('unique in the workspace');
    table.text('name').notNullable();
    table.specificType('name_folded', folded).notNullable();
    table.integer('rank').notNullable();
    table.primary(['workspace_id', 'id']);
  });

  await knex.schema.createTable('timeline_events', (table) => {
    const moment = (name: string) => table.timestamp(name, { precision: 3 });
    addWorkspaceKey(table);
    table.bigInteger('incident_id').notNullable();
    table.bigInteger('revision').notNullable();
    moment('started_at').notNullable();
    moment('ended_at');
    table.boolean('is_ongoing').notNullable();
    table.bigInteger('group_id');
    table.boolean('is_key').notNullable();
    table.text('source').notNullable();
    table.text('source_ref').notNullable();
    table.text('type').notNullable();
    table.text('icon').notNullable();
    table.text('title').notNullable();
    table.text('body').notNullable();
    table.bigInteger('collaboration_generation').notNullable();
    table.specificType('tags', 'text[]').notNullable();
    table.text('ai_context').notNullable();
    table.text('created_by').notNullable();
    table.jsonb('created_by_key').comment(CREATED_BY_KEY);
    table.text('edited_by').comment('who changed it last; null: nobody');
    moment('edited_at');
    table.text('edited_key_name').comment('of the API key that was used, at that time');
    table.text('edited_key_prefix');
    table.bigInteger('comment_count').notNullable().defaultTo(0);
    moment('source_window_started_at');
    moment('source_window_ended_at');
    table.jsonb('evidence_links').notNullable().comment('as the API shows them');
    table.text('external_id').comment('in the system that it was imported from; null: it was created here');
    table.specificType('source_folded', folded).notNullable();
    table.specificType('type_folded', folded).notNullable();
    table.specificType('tags_folded', foldedList).notNullable();
    table.specificType('texts_folded', foldedList).notNullable().comment('all that a search looks into');
    belongsTo(table, 'incidents', 'incident_id');
    table.index(['workspace_id', 'incident_id', 'started_at', 'id']);
    table
      .foreign(['workspace_id', 'group_id'], 'timeline_events_group')
      .references(['workspace_id', 'id'])
      .inTable('timeline_groups');
  });
  await knex.raw(`
    create index timeline_events_by_group on timeline_events (workspace_id, group_id) where group_id is not null`);
  // An import finds what it has imported before.
  await knex.raw(`
    create unique index timeline_events_by_external_id on timeline_events (workspace_id, incident_id, external_id)
    where external_id is not null`);

  await knex.schema.createTable('timeline_attachments', (table) => {
    addWorkspaceKey(table);
    table.bigInteger('timeline_event_id').notNullable();
    table.text('filename').notNullable();
    table.text('storage_key').comment('its path below ATTACHMENT_BASE_URL; null: not to be had');
    table.text('url').comment('where another system shows it, an image of a monitor; null: it is in the file store');
    table.text('content_type').notNullable();
    table.bigInteger('size_bytes').notNullable();
    table.timestamp('created_at', { precision: 3 }).notNullable();
    table.text('created_by').notNullable();
    belongsTo(table, 'timeline_events', 'timeline_event_id');
    table.index(['workspace_id', 'timeline_event_id', 'id']);
  });
  await createFormerEvents(knex);
}

/** What timeline events were before they were changed or deleted. */
async function createFormerEvents(knex: Knex): Promise<void> {
  await knex.raw(`
    create table former_timeline_events (
      seq bigserial,
      like timeline_events,
      deleted_at timestamptz(3),
      deleted_by text,
      deleted_key_name text,
      deleted_key_prefix text,
      attachments jsonb,
      primary key (workspace_id, seq),
      foreign key (workspace_id, incident_id) references incidents (workspace_id, id) on delete cascade
    )`);
  await knex.schema.alterTable('former_timeline_events', (table) => {
    table.dropColumns('source_folded', 'type_folded', 'tags_folded', 'texts_folded');
    table.index(['workspace_id', 'id', 'seq']);
    table.index(['workspace_id', 'incident_id']);
  });
  await knex.raw(`
    create index former_timeline_events_deleted on former_timeline_events (workspace_id, incident_id, seq)
    where deleted_at is not null`);
  await knex.raw(`comment on column former_timeline_events.deleted_at is 'null: it was changed then'`);
  await knex.raw(`
    comment on column former_timeline_events.attachments is 'rows of timeline_attachments, of a deleted event'`);
}

/** A relation has two rows, one as each of its incidents sees it, with the same ID. */
async function createRelations(knex: Knex): Promise<void> {
  await knex.raw('create sequence incident_relations_id_seq');
  await knex.schema.createTable('incident_relations', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('id').notNullable();
    table.bigInteger('incident_id').notNullable();
    table.text('type').notNullable().comment('what the incident is to the related one');
    table.bigInteger('related_id').notNullable();
    table.timestamp('created_at', { precision: 3 }).notNullable();
    table.text('created_by').notNullable();
    table.jsonb('created_by_key').comment(CREATED_BY_KEY);
    table.primary(['workspace_id', 'incident_id', 'type', 'related_id']);
    table.unique(['workspace_id', 'id', 'incident_id']);
    table.index(['workspace_id', 'related_id']);
    belongsTo(table, 'incidents', 'incident_id');
    belongsTo(table, 'incidents', 'related_id');
  });
  await knex.raw('alter sequence incident_relations_id_seq owned by incident_relations.id');
}

async function createFollowUps(knex: Knex): Promise<void> {
  const moment = { precision: 3 };
  await knex.schema.createTable('follow_ups', (table) => {
    addWorkspaceKey(table);
    table.bigInteger('incident_id').notNullable();
    table.bigInteger('revision').notNullable();
    table.text('external_id').comment('in the system that an import brought it from');
    table.text('title').notNullable();
    table.text('description').notNullable();
    table.specificType('texts_folded', 'text[] collate "C"').notNullable().comment('title and description');
    table.text('owner').notNullable().comment('the ID of a user, or a name that an import has kept; empty: nobody');
    table.date('due_on');
    table.text('status').notNullable();
    table.text('external_url').notNullable();
    table.timestamp('created_at', moment).notNullable();
    table.text('created_by').notNullable();
    table.jsonb('created_by_key').comment(CREATED_BY_KEY);
    table.timestamp('completed_at', moment);
    table.timestamp('updated_at', moment).notNullable();
    belongsTo(table, 'incidents', 'incident_id');
    table.unique(['workspace_id', 'incident_id', 'external_id']);
  });
  // The order of lists, of each status.
  const order = `status, (coalesce(due_on, 'infinity'::date)), id`;
  await knex.raw(`create index follow_ups_by_due_date on follow_ups (workspace_id, ${order})`);
  await knex.raw(`create index follow_ups_by_owner on follow_ups (workspace_id, owner, ${order})`);
}

/** Trackers, and the tickets of follow-ups in them (ADR 124). */
async function createTrackers(knex: Knex): Promise<void> {
  await knex.schema.createTable('trackers', (table) => {
    const moment = (name: string) => table.timestamp(name, { precision: 3 });
    addWorkspaceKey(table);
    table.bigInteger('revision').notNullable();
    table.text('name').notNullable().comment('unique among those that are not archived');
    table.text('kind').notNullable();
    table.text('origin').notNullable().comment('scheme and host: all of the URL that is ever shown');
    table.text('key_id').comment('null once archived');
    table.binary('ciphertext').comment('URL, credential and the secret of its webhook, sealed');
    table.text('project').notNullable().comment('in which tickets are made');
    table.text('issue_type').notNullable().comment('empty: the kind has none');
    table.jsonb('auto_filters').comment('of which incidents each new follow-up gets a ticket; null: only by hand');
    table.boolean('include_restricted').notNullable();
    table.jsonb('workspace').notNullable().comment('as its last change knew it, in whose name follow-ups change');
    table.boolean('is_paused').notNullable().defaultTo(false);
    moment('created_at').notNullable();
    moment('updated_at').notNullable();
    moment('archived_at');
    table.integer('failures').notNullable().defaultTo(0).comment('in a row');
    moment('failing_since');
    moment('last_success_at');
    moment('last_failure_at');
    table.text('last_failure').comment('a reason from a fixed list, never text of the tracker');
    table.integer('last_status').comment('the HTTP status of the latest failure');
    moment('due_at').notNullable().comment('before it, the tracker is not asked');
  });
  await knex.raw(
    'create unique index trackers_by_name on trackers (workspace_id, lower(name)) where archived_at is null',
  );
  await knex.raw('create index trackers_key on trackers (key_id, id) where key_id is not null');
  await knex.raw('create index trackers_asked on trackers (due_at) where archived_at is null and not is_paused');
  await knex.schema.createTable('follow_up_tickets', (table) => {
    const moment = (name: string) => table.timestamp(name, { precision: 3 });
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('follow_up_id').notNullable();
    table.bigInteger('tracker_id').notNullable();
    table.text('status').notNullable().checkIn(['pending', 'linked', 'failed']);
    table
      .uuid('marker')
      .notNullable()
      .defaultTo(knex.fn.uuid())
      .comment('in the ticket that is made: by it, the ticket is found again');
    moment('attempted_at').comment('when the tracker was first asked for a ticket; null: never');
    table.text('key').comment('of the ticket');
    table.text('url');
    table.text('state').checkIn(['open', 'done']).comment('on which follow-up and ticket last agreed; null: no ticket');
    moment('agreed_at').comment('since when');
    table.text('failure').comment('a reason from a fixed list, never text of the tracker; null: none');
    table.integer('failure_status').comment('the HTTP status of the failure');
    moment('failed_at');
    moment('due_at').comment('when both are compared; the end of the lease while they are; null: not by itself');
    table.uuid('lease_token').comment('who holds it compares them');
    moment('lease_until');
    table.primary(['workspace_id', 'follow_up_id']);
    belongsTo(table, 'follow_ups', 'follow_up_id');
    belongsTo(table, 'trackers', 'tracker_id');
  });
  await knex.raw(`
    create index follow_up_tickets_due on follow_up_tickets (workspace_id, tracker_id, due_at)`);
  await knex.raw(`
    create index follow_up_tickets_leased on follow_up_tickets (workspace_id, lease_until)
    where lease_until is not null`);
  // A webhook of the tracker names the ticket.
  await knex.raw(`
    create index follow_up_tickets_by_key on follow_up_tickets (workspace_id, tracker_id, lower(key))`);
}

/** Chat connections, and what is set up in the chat for incidents. */
async function createChat(knex: Knex): Promise<void> {
  await knex.schema.createTable('chat_connections', (table) => {
    table.bigInteger('workspace_id').primary();
    table.text('key_id').notNullable().comment('the secret key that sealed the token');
    table.binary('token_ciphertext').notNullable();
    table.text('channel_template').notNullable();
    table.boolean('posts_updates').notNullable().defaultTo(false).comment('of incidents, into their channels');
    table.binary('app_token_ciphertext').comment('of the token for commands, sealed with the same key; null: none');
    table.uuid('socket_holder').comment('the process that receives the commands; null: none');
    table.timestamp('socket_until', { precision: 3 }).comment('when the lease of the holder ends');
    table.timestamp('updated_at', { precision: 3 }).notNullable();
  });
  // After a change of the secret keys, the tokens that another key encrypted are looked up.
  await knex.raw('create index chat_connections_key on chat_connections (key_id)');
  await knex.raw(
    'create index chat_connections_sockets on chat_connections (workspace_id) where app_token_ciphertext is not null',
  );

  await knex.schema.createTable('provisionings', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('incident_id').notNullable();
    table.text('workspace_slug').notNullable();
    table.boolean('is_demo').notNullable();
    table.text('request_id').notNullable().comment('of the request that asked for it');
    table
      .text('marker')
      .notNullable()
      .comment('in the purpose of the channel that is made: by it the channel is found again');
    table.specificType('usergroups', 'text[]').notNullable();
    table
      .text('channel_name')
      .index()
      .comment('fixed before the chat is asked for a channel, so that every attempt asks for the same');
    table.timestamp('named_at', { precision: 3 });
    table.timestamp('created_at', { precision: 3 }).notNullable();
    table.text('trace_context').comment('traceparent, and tracestate after a space; null without a trace');
    table.primary(['workspace_id', 'incident_id']);
    belongsTo(table, 'incidents', 'incident_id');
  });

  await knex.schema.createTable('provisioning_steps', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('incident_id').notNullable();
    table.text('key').notNullable();
    table.text('status').notNullable().checkIn(['pending', 'running', 'succeeded', 'failed']);
    table.integer('attempts').notNullable().defaultTo(0);
    table.integer('failures').notNullable().defaultTo(0).comment('since the step was last asked for');
    table.integer('waits').notNullable().defaultTo(0).comment('attempts that were told to wait, since then');
    table.text('error_code');
    table
      .timestamp('due_at', { precision: 3 })
      .comment('pending: the next attempt, null while it waits for another step; running: when its lease is over');
    table.uuid('lease').comment('who runs it');
    table.timestamp('updated_at', { precision: 3 }).notNullable();
    table.primary(['workspace_id', 'incident_id', 'key']);
    belongsTo(table, 'provisionings', 'incident_id', 'incident_id');
  });
  await knex.raw(`
    create index provisioning_steps_due on provisioning_steps (workspace_id, due_at) where due_at is not null`);
  // When the next step is due is asked for across all workspaces.
  await knex.raw('create index provisioning_steps_next on provisioning_steps (due_at) where due_at is not null');
  await createChannelUpdates(knex);
}

async function createChannelUpdates(knex: Knex): Promise<void> {
  const moment = { precision: 3 };
  await knex.schema.createTable('channel_updates', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('incident_id').notNullable();
    table.bigInteger('posted_entry').notNullable().comment('what the changelog has up to this entry is posted');
    table.bigInteger('last_entry').notNullable().comment('of the changelog, of the last change that is to be posted');
    table.text('status').notNullable().checkIn(['pending', 'running', 'succeeded', 'failed']);
    table.integer('attempts').notNullable().defaultTo(0);
    table.integer('failures').notNullable().defaultTo(0).comment('since a message was last posted or asked for');
    table.integer('waits').notNullable().defaultTo(0).comment('attempts that were told to wait, since then');
    table.text('error_code');
    table.timestamp('due_at', moment).comment('pending: the next attempt; running: when its lease is over');
    table.uuid('lease').comment('who runs it');
    table.text('request_id').notNullable().comment('of the last change');
    table.text('trace_context').comment('traceparent, and tracestate after a space; null without a trace');
    table.timestamp('updated_at', moment).notNullable();
    table.primary(['workspace_id', 'incident_id']);
    belongsTo(table, 'incidents', 'incident_id');
  });
  await knex.raw(`
    create index channel_updates_due on channel_updates (workspace_id, due_at) where due_at is not null`);
  // Whether a workspace has a running one, while many wait for Slack.
  await knex.raw(`
    create index channel_updates_running on channel_updates (workspace_id, due_at) where status = 'running'`);
  // When the next one is due is asked for across all workspaces.
  await knex.raw('create index channel_updates_next on channel_updates (due_at) where due_at is not null');
}

/** Alerts of monitors, and what has become of them (ADR 98). */
async function createAlerts(knex: Knex): Promise<void> {
  await knex.schema.createTable('alert_sources', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('key_id').notNullable().comment('the API key, which is the monitor');
    table.timestamp('minute', { precision: 3 }).comment('in which the incidents are counted');
    table.integer('declared').notNullable().defaultTo(0).comment('incidents of that minute');
    table.bigInteger('last_incident_id').comment('the latest of them, which stands for all further groups');
    table.integer('groups').notNullable().defaultTo(0).comment('that it stands for');
    table.bigInteger('members').notNullable().defaultTo(0).comment('rows of alert_members');
    table.bigInteger('notifications').notNullable().defaultTo(0).comment('that were ever recorded');
    table
      .jsonb('sender')
      .comment('the principal of its latest request, for what nobody requests; null: nothing is due');
    table.primary(['workspace_id', 'key_id']);
  });
  await knex.schema.createTable('alert_groups', (table) => {
    addWorkspaceKey(table);
    table.bigInteger('key_id').notNullable();
    table.binary('identity').notNullable().comment("digest of the monitor's own identity of the group");
    table.bigInteger('incident_id');
    table.integer('firing').notNullable().defaultTo(0).comment('members that fire');
    table.timestamp('updated_at', { precision: 3 }).notNullable().index();
    table
      .jsonb('quiet')
      .comment('what is asked for if nothing is heard of it: its name, seconds, options; null: nothing');
    table.timestamp('quiet_at', { precision: 3 }).comment('when nothing has been heard of it for so long');
    table.unique(['workspace_id', 'key_id', 'identity']);
    table.index(['workspace_id', 'incident_id']);
    belongsTo(table, 'incidents', 'incident_id');
  });
  await knex.schema.createTable('alert_members', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('key_id').notNullable().comment('the monitor: the first key of its rotations');
    table.bigInteger('group_id').notNullable();
    table.binary('alert').notNullable().comment('digest of its identity in the group');
    table
      .binary('mark')
      .notNullable()
      .comment('digest of its identity and labels: by it, it is found in another group');
    table.boolean('is_firing').notNullable();
    table.timestamp('firing', { precision: 3 }).comment('when its latest firing began, as the monitor says');
    table.boolean('is_acknowledged').notNullable();
    table.text('severity').comment('key of the highest severity that the monitor named in this firing; null: none');
    table.timestamp('changed_at', { precision: 3 }).notNullable().comment('when we heard that it fires, or has ended');
    table.primary(['workspace_id', 'group_id', 'alert']);
    belongsTo(table, 'alert_groups', 'group_id');
  });
  await knex.raw('create index alert_groups_quiet on alert_groups (quiet_at) where quiet_at is not null');
  await knex.raw('create index alert_members_by_mark on alert_members (workspace_id, key_id, mark) where is_firing');
  await knex.schema.createTable('alert_incidents', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('incident_id').notNullable();
    table.timestamp('ended_at', { precision: 3 }).comment('when all alerts had ended; null: one fires');
    table.timestamp('recovered_at', { precision: 3 }).comment('that this end has given the incident; null: none');
    table.bigInteger('resolved_revision').comment('of the incident when this end resolved it; null: it did not');
    table
      .timestamp('last_end', { precision: 3 })
      .comment('the latest end of its alerts, as monitors say it; null: none');
    table.primary(['workspace_id', 'incident_id']);
    belongsTo(table, 'incidents', 'incident_id');
  });
}

/** What became of the notifications of monitors. */
async function createNotifications(knex: Knex): Promise<void> {
  await knex.schema.createTable('alert_notifications', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('key_id').notNullable();
    table.integer('place').notNullable().comment('later notifications of the key take the places of earlier ones');
    table.bigIncrements('id', { primaryKey: false });
    table.timestamp('received_at', { precision: 3 }).notNullable();
    table.text('key_name').notNullable();
    table.text('key_prefix').notNullable();
    table.text('format').notNullable();
    table.text('identity').notNullable().comment('its beginning');
    table.text('outcome').notNullable();
    table.text('reason').notNullable().defaultTo('');
    table.text('body_start').notNullable().defaultTo('').comment('the first characters of a refused body');
    table.bigInteger('incident_id');
    table.integer('groups').notNullable();
    table.integer('started').notNullable();
    table.integer('ended').notNullable();
    table.integer('unchanged').notNullable();
    table.primary(['workspace_id', 'key_id', 'place']);
    table.unique(['workspace_id', 'id']);
    table
      .foreign(['workspace_id', 'incident_id'])
      .references(['workspace_id', 'id'])
      .inTable('incidents')
      .onDelete('SET NULL (incident_id)');
  });
}

/** What must be heard until when: heartbeats of monitors, and groups of alerts that fire. */
async function createHeartbeats(knex: Knex): Promise<void> {
  await knex.schema.createTable('alert_heartbeats', (table) => {
    addWorkspaceKey(table);
    table.bigInteger('key_id').notNullable().comment('the monitor: the first key of its rotations');
    table.text('name').notNullable();
    table.integer('within').notNullable().comment('seconds in which it must be heard again');
    table.timestamp('heard_at', { precision: 3 }).notNullable();
    table.timestamp('due_at', { precision: 3 }).notNullable().comment('when it is missed, or its alert fires again');
    table.timestamp('missed_at', { precision: 3 }).comment('since when its alert fires; null: it does not');
    table.jsonb('options').notNullable().comment('how its alert becomes an incident');
    table.unique(['workspace_id', 'key_id', 'name']);
  });
  await knex.raw('create index alert_heartbeats_due on alert_heartbeats (due_at)');
  await knex.schema.createTable('alert_clock', (table) => {
    table.boolean('is_only_row').primary().defaultTo(true);
    table.timestamp('ticked_at', { precision: 3 }).notNullable().comment('when heartbeats could last have been heard');
    table.check('is_only_row');
  });
}

/** About how many bytes a workspace stores, as a task measures it. */
async function createStorage(knex: Knex): Promise<void> {
  await knex.schema.createTable('workspace_storage', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('measured_bytes').notNullable().defaultTo(0).comment('at the last measurement');
    table.timestamp('measured_at', { precision: 3 }).comment('null: never');
    table
      .timestamp('due_at', { precision: 3 })
      .defaultTo(knex.fn.now())
      .comment('when a measurement became due; null: not enough was written since the last one');
    // The measurement in progress.
    table.bigInteger('next_number').notNullable().defaultTo(0).comment('incidents up to this number are counted');
    table.bigInteger('counted_bytes').notNullable().defaultTo(0).comment('of the incidents that are counted');
    table.jsonb('next_key').comment('keys up to this one are counted: user, route and key; null: none');
  });
  await knex.raw('create index workspace_storage_due on workspace_storage (due_at) where due_at is not null');
}
