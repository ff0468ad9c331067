import type { Knex } from '@tocsin/postgres';

/**
 * What lists of incidents filter, sort and count by (contract: Incident lists). The `folded` columns hold text as lists
 * compare it, folded by `domain/fold.ts` and compared by bytes: a database's own idea of case and order depends on its
 * locale. They are null where there is no text, which sorts last.
 *
 * Every index begins with the workspace, so no list grows with the number of workspaces, and those of one sort end with
 * the ID, which breaks its ties. They hold null as well: the incidents without a value are a range of the same index.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table incidents
      add column service_folded text collate "C",
      add column region_folded text collate "C",
      add column region_keys text[] collate "C" not null default '{}',
      add column owner_folded text collate "C" generated always as (nullif(incident_manager, '')) stored,
      add column diagnosis smallint not null generated always as (
        case latest_run ->> 'status'
          when 'queued' then 1 when 'running' then 1
          when 'completed' then 2
          when 'failed' then 3 when 'cancelled' then 3
          when 'unavailable' then 4
          else 0
        end) stored`);
  await knex.raw(`comment on column incidents.region_folded is 'the first region'`);
  await knex.raw(`comment on column incidents.region_keys is '<workspace_id> <folded region>'`);
  await knex.raw(`comment on column incidents.diagnosis is 'the place of the diagnosis in domain/diagnosis.ts'`);

  // The order of lists unless they are sorted. The columns that it carries along make counts, and searches for what is
  // rare, a walk through this index alone.
  await knex.raw('drop index incidents_active_by_creation');
  await knex.raw(`
    create index incidents_active_by_creation on incidents (workspace_id, created_at, id)
    include (status, severity, issue_type, customer_impact_status) where archived_at is null`);
  for (const column of SORTED) {
    await knex.raw(`
      create index incidents_active_by_${column} on incidents (workspace_id, ${column}, id) where archived_at is null`);
  }
  // An incident has several regions. Its keys begin with the workspace, because a GIN index takes no other column.
  await knex.raw(`
    create index incidents_active_by_region on incidents using gin (region_keys) where archived_at is null`);
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
    table.bigInteger('incident_id').notNullable().references('id').inTable('incidents').onDelete('CASCADE');
    table
      .specificType('currencies', 'text collate "C"')
      .notNullable()
      .comment("the incident's, sorted; after a slash those of which nothing is at stake: EUR USD/GBP");
    table.specificType('currency', 'text collate "C"').notNullable().comment('empty in the only row of no revenue');
    table.specificType('amount_minor', 'numeric').notNullable();
    table.specificType('total_minor', 'numeric').notNullable().comment('of all currencies, as if they were one');
    table.primary(['incident_id', 'currency']);
  });
  await knex.raw(`
    create index incident_mrr_by_amount
    on incident_mrr (workspace_id, currencies, currency, amount_minor, total_minor, incident_id)`);
}

/** Columns of the sorts that go by what an incident's own row holds. */
const SORTED = [
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

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('incident_mrr').dropTable('mrr_currencies');
  await knex.raw('drop statistics incidents_by_columns_that_go_together, incident_values_by_columns_that_go_together');
  await knex.raw('drop index incidents_archived');
  await knex.schema.alterTable('incidents', (table) => {
    table.dropColumns('service_folded', 'region_folded', 'region_keys', 'owner_folded', 'diagnosis');
  });
  for (const column of ['status', 'severity', 'team_id', 'last_event_at', 'event_count', 'affected_customers']) {
    await knex.raw(`drop index incidents_active_by_${column}`);
  }
  await knex.raw('drop index incidents_active_by_creation');
  await knex.raw(`
    create index incidents_active_by_creation on incidents (workspace_id, created_at desc, id desc) where archived_at is null`);
}
