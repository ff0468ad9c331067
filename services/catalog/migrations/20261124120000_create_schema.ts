import { createIdempotencyTable } from '@tocsin/http';
import { createDeadLetterTable, createInboxTable, createOutboxTable } from '@tocsin/messaging';
import { addWorkspaceKey, type Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await createOutboxTable(knex);
  await createDeadLetterTable(knex);
  await createInboxTable(knex);
  await createIdempotencyTable(knex);
  await createConfiguration(knex);
  await createReplicas(knex);
  await createCatalog(knex);
  await createOnCall(knex);
}

async function createConfiguration(knex: Knex): Promise<void> {
  await knex.schema.createTable('workspace_versions', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('version').notNullable().comment('counts the changes of teams, services and tiers');
    table
      .timestamp('changed_at', { precision: 3 })
      .notNullable()
      .defaultTo(knex.fn.now())
      .index()
      .comment('of the latest version: what changed lately is announced again');
  });
  await knex.schema.createTable('configurations', (table) => {
    table.bigInteger('workspace_id').primary();
    table.jsonb('service_tiers').notNullable().comment('the whole list, in rank order');
    // For tiers that change together with the rest of a workspace's configuration, which the incident service has (ADR 55).
    table.bigInteger('tiers_version').notNullable().defaultTo(0).comment('counts the lists that were prepared');
    table.jsonb('prepared_tiers').comment('the list of tiers_version, until it is known whether it was committed');
  });
}

/**
 * What this service needs to know of the gateway's users. `version` is the gateway's version of the workspace at which a
 * row was as it stands here; older news of it is ignored.
 */
async function createReplicas(knex: Knex): Promise<void> {
  await knex.schema.createTable('replica_versions', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('version').notNullable().comment('everything up to it is here');
    table
      .text('position')
      .comment('of a pull that is not complete; null: the replica has all changes up to the version');
  });
  await knex.schema.createTable('replica_users', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('id').notNullable();
    table.primary(['workspace_id', 'id']);
    table.text('email').notNullable();
    table.text('name').notNullable();
    table.specificType('sort_name', 'text collate "C"').notNullable();
    table.boolean('active').notNullable();
    table.bigInteger('version').notNullable();
  });
}

/** `version` is the workspace's version at a row's last change: what replicas have not seen yet is found by it. */
async function createCatalog(knex: Knex): Promise<void> {
  const common = (table: Knex.CreateTableBuilder) => {
    addWorkspaceKey(table);
    table.bigInteger('revision').notNullable();
    table.text('name').notNullable();
    table.specificType('sort_name', 'text collate "C"').notNullable().comment('what lists sort the name by');
    table.text('slug').notNullable().comment('permanent, and taken for good');
    table.text('description');
    table.text('external_id');
    for (const moment of ['created_at', 'updated_at']) table.timestamp(moment, { precision: 3 }).notNullable();
    table.timestamp('archived_at', { precision: 3 });
    table.bigInteger('version').notNullable();
    table.unique(['workspace_id', 'slug']);
  };
  await knex.schema.createTable('teams', (table) => {
    common(table);
    table.bigInteger('parent_team_id');
    table.foreign(['workspace_id', 'parent_team_id']).references(['workspace_id', 'id']).inTable('teams');
    table.index(['workspace_id', 'parent_team_id']);
    table.integer('member_count').notNullable().defaultTo(0).comment('members who are active users');
    table.index(['workspace_id', 'sort_name', 'id']);
  });
  await knex.schema.createTable('services', (table) => {
    common(table);
    table.bigInteger('owner_team_id');
    table.foreign(['workspace_id', 'owner_team_id']).references(['workspace_id', 'id']).inTable('teams');
    table.text('tier').notNullable();
    table.specificType('tags', 'text[]').notNullable();
    table.specificType('observability_names', 'text[]').notNullable();
    table.index(['workspace_id', 'tier', 'sort_name', 'id']);
  });
  // Changes are read in pages, by version and ID. Active rows are counted at every create, for the quota.
  for (const name of ['teams', 'services']) {
    await knex.raw(`create index ${name}_changes on ${name} (workspace_id, version, id)`);
    await knex.raw(`create index ${name}_active on ${name} (workspace_id) where archived_at is null`);
    // Not unique (ADR 93).
    await knex.raw(`
      create index ${name}_by_external_id on ${name} (workspace_id, external_id) where external_id is not null`);
  }
  await knex.raw(`
    create index services_by_owner on services (workspace_id, owner_team_id) where owner_team_id is not null`);
  await knex.schema.createTable('team_members', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('team_id').notNullable();
    table.bigInteger('user_id').notNullable();
    table.text('role').notNullable();
    for (const moment of ['created_at', 'updated_at']) table.timestamp(moment, { precision: 3 }).notNullable();
    table.primary(['workspace_id', 'team_id', 'user_id']);
    table.foreign(['workspace_id', 'team_id']).references(['workspace_id', 'id']).inTable('teams');
    table.index(['workspace_id', 'user_id']);
  });
}

/** Where it stands who is on call for a team, and what was read there last. */
async function createOnCall(knex: Knex): Promise<void> {
  await knex.schema.createTable('on_call_sources', (table) => {
    const moment = (name: string) => table.timestamp(name, { precision: 3 });
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('team_id').notNullable();
    table.primary(['workspace_id', 'team_id']);
    table.foreign(['workspace_id', 'team_id']).references(['workspace_id', 'id']).inTable('teams');
    table.text('kind').notNullable();
    table.text('origin').notNullable().comment('scheme and host: all of the URL that is ever shown');
    table.text('schedule_id').comment('of PagerDuty');
    table.text('key_id').notNullable().index();
    table.binary('ciphertext').notNullable().comment('URL and credential, sealed');
    table.jsonb('shifts').notNullable().comment('the latest that could be read, in the order of their beginnings');
    moment('fetched_at').comment('when the shifts were read');
    table.text('failure').comment('why the latest look failed: a reason from a fixed list; null: it did not');
    table.integer('failure_status').comment('the HTTP status of the latest failure');
    moment('failing_since');
    table.integer('failures').notNullable().defaultTo(0).comment('in a row');
    moment('due_at').notNullable().index();
    table.uuid('lease_token').comment('who holds it may write what it has read');
    moment('lease_until');
  });
}
