import { createIdempotencyTable } from '@tocsin/http';
import { createDeadLetterTable, createInboxTable, createOutboxTable } from '@tocsin/messaging';
import { addWorkspaceKey, belongsTo, type Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await createOutboxTable(knex);
  await createDeadLetterTable(knex);
  await createInboxTable(knex);
  await createIdempotencyTable(knex);
  await createIdentities(knex);
  await createSignIns(knex);
  await createScim(knex);
  await createAgents(knex);
  await createAuditLog(knex);
  await createErasures(knex);
}

async function createIdentities(knex: Knex): Promise<void> {
  await knex.schema.createTable('workspaces', (table) => {
    table.bigIncrements('id');
    table.text('slug').notNullable().unique({ indexName: 'workspaces_slug_key' });
    table.text('name').notNullable();
    table.boolean('is_demo').notNullable().defaultTo(false);
    table.decimal('history_days', null).checkPositive();
    table.text('reporting_currency').notNullable().defaultTo('USD').checkRegex('^[A-Z]{3}$');
    table.boolean('short_title_required').notNullable().defaultTo(false);
    table.integer('rate_limit').checkPositive().comment('requests a minute; the default unless set');
    table.bigInteger('version').notNullable().defaultTo(1).comment('counts changes of the workspace and its users');
    timestamps(table, knex);
    table.timestamp('suspended_at', { precision: 3 }).comment('since when nobody gets in; null: people do');
    table.jsonb('quotas').notNullable().defaultTo('{}').comment('by name; null: unlimited; others have their defaults');
  });

  await knex.schema.createTable('users', (table) => {
    table.bigInteger('workspace_id').notNullable().references('workspaces.id');
    table.bigIncrements('id', { primaryKey: false });
    table.primary(['workspace_id', 'id']);
    table.text('email').notNullable();
    table.text('name').notNullable();
    table.boolean('active').notNullable().defaultTo(true);
    table.text('seat').notNullable().checkIn(['responder', 'none']);
    table.text('role').notNullable().checkIn(['owner', 'admin', 'manager', 'member', 'viewer']);
    table.bigInteger('revision').notNullable().defaultTo(1).comment('counts the changes of the user');
    table.bigInteger('version').notNullable().comment("the workspace's version at the user's last change");
    timestamps(table, knex);
  });
  // Changes of users are read in pages.
  await knex.raw('create index users_changes on users (workspace_id, version, id)');
  await knex.raw('create unique index users_email_key on users (workspace_id, lower(email))');

  await knex.schema.createTable('api_keys', (table) => {
    addWorkspaceKey(table);
    table.bigInteger('user_id').notNullable();
    table.foreign(['workspace_id', 'user_id']).references(['workspace_id', 'id']).inTable('users');
    table.index(['workspace_id', 'user_id']);
    table
      .text('kind')
      .notNullable()
      .defaultTo('key')
      .comment('key; session: of a browser, see domain/session.ts; agent: allowed by a person, see oauth');
    table.bigInteger('revision').notNullable().defaultTo(1).comment('counts the changes of the key');
    table.text('name').notNullable();
    table.binary('token_digest').notNullable().comment('SHA-256');
    table.unique(['workspace_id', 'token_digest'], { indexName: 'api_keys_token_digest_key' });
    table.text('token_shown').notNullable().comment('the first characters of the token');
    table.specificType('scopes', 'text[]').notNullable();
    table.timestamp('expires_at', { precision: 3 });
    table.timestamp('revoked_at', { precision: 3 });
    table.timestamp('last_used_at', { precision: 3 }).comment('to the minute, and written up to a minute later');
    table.timestamp('created_at', { precision: 3 }).notNullable().defaultTo(knex.fn.now());
    table.bigInteger('replaced_by').comment('the key of its rotation');
    table.foreign(['workspace_id', 'replaced_by']).references(['workspace_id', 'id']).inTable('api_keys');
    table.bigInteger('first_key_id').comment('the first of the keys that it has replaced by rotations; null: none');
    table.bigInteger('begun_by').comment('of a session: the key whose token began it');
    table.text('client_id').comment('of an agent: its OAuth client');
  });

  await knex.schema.createTable('identity_version', (table) => {
    table.comment('one row, which every change of a workspace, a user or a key raises');
    table.boolean('is_only_row').primary().checkIn(['true']);
    table.bigInteger('version').notNullable();
  });

  await knex.schema.createTable('installation', (table) => {
    table.comment('one row, which the first request for it makes; a backup has it');
    table.boolean('is_only_row').primary().checkIn(['true']);
    table.uuid('id').notNullable();
  });
}

/** What signs people in besides API keys. */
async function createSignIns(knex: Knex): Promise<void> {
  await knex.schema.createTable('login_links', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.binary('token_digest').notNullable().comment('SHA-256');
    table.primary(['workspace_id', 'token_digest']);
    table.bigInteger('user_id').notNullable();
    table.foreign(['workspace_id', 'user_id']).references(['workspace_id', 'id']).inTable('users');
    table.index(['workspace_id', 'user_id']);
    table.timestamp('expires_at', { precision: 3 }).notNullable().index();
  });

  await knex.schema.createTable('oidc_providers', (table) => {
    table.bigInteger('workspace_id').primary().references('workspaces.id');
    table.text('issuer').notNullable();
    table.text('client_id').notNullable();
    table.text('key_id').notNullable().index().comment('the secret key that encrypts the client secret');
    table.binary('secret_ciphertext').notNullable();
    table.boolean('creates_viewers').notNullable().comment('whether people without a user become viewers');
    table
      .boolean('trusts_email')
      .notNullable()
      .defaultTo(false)
      .comment('whether an address counts as verified if the provider says nothing about it');
    table
      .jsonb('groups')
      .comment('which groups give roles and seats, see sign-in/domain/group-mapping.ts; null: none do');
    table.timestamp('updated_at', { precision: 3 }).notNullable();
  });

  await knex.schema.createTable('oidc_identities', (table) => {
    table.comment('the account at its provider by which a user signed in first');
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('user_id').notNullable();
    table.primary(['workspace_id', 'user_id']);
    table.foreign(['workspace_id', 'user_id']).references(['workspace_id', 'id']).inTable('users');
    table.text('issuer').notNullable();
    table.text('subject').notNullable();
    table.timestamp('created_at', { precision: 3 }).notNullable();
    table.unique(['workspace_id', 'issuer', 'subject'], { indexName: 'oidc_identities_account_key' });
  });
}

/** What directories send by SCIM besides the properties of users. */
async function createScim(knex: Knex): Promise<void> {
  await knex.schema.createTable('scim_users', (table) => {
    table.comment('the names of users at the directory that manages them');
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('user_id').notNullable();
    table.primary(['workspace_id', 'user_id']);
    table.foreign(['workspace_id', 'user_id']).references(['workspace_id', 'id']).inTable('users');
    table.text('user_name').notNullable();
    table.text('external_id');
    table.unique(['workspace_id', 'external_id']);
  });
  await knex.raw('create unique index scim_users_user_name_key on scim_users (workspace_id, lower(user_name))');

  await knex.schema.createTable('scim_groups', (table) => {
    addWorkspaceKey(table);
    table.foreign('workspace_id').references('workspaces.id');
    table.text('display_name').notNullable();
    table.text('external_id');
    table.unique(['workspace_id', 'external_id']);
    timestamps(table, knex);
  });
  await knex.raw('create unique index scim_groups_display_name_key on scim_groups (workspace_id, lower(display_name))');

  await knex.schema.createTable('scim_group_members', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('group_id').notNullable();
    table.bigInteger('user_id').notNullable();
    table.primary(['workspace_id', 'group_id', 'user_id']);
    belongsTo(table, 'scim_groups', 'group_id');
    table.foreign(['workspace_id', 'user_id']).references(['workspace_id', 'id']).inTable('users');
    table.index(['workspace_id', 'user_id']);
  });
}

/** What connects agents to a workspace for its people, by OAuth. */
async function createAgents(knex: Knex): Promise<void> {
  await knex.schema.createTable('oauth_clients', (table) => {
    table.comment('programs that have registered themselves; those that nobody allows anything expire');
    table.bigInteger('workspace_id').notNullable().references('workspaces.id');
    table.text('id').notNullable();
    table.primary(['workspace_id', 'id']);
    table.text('name').notNullable();
    table.specificType('redirect_uris', 'text[]').notNullable();
    table.timestamp('created_at', { precision: 3 }).notNullable();
    table.boolean('is_connected').notNullable().defaultTo(false).comment('whether a person has allowed it something');
    table.timestamp('expires_at', { precision: 3 }).notNullable().index();
  });
  await knex.raw(
    'create index oauth_clients_unused on oauth_clients (workspace_id, created_at) where not is_connected',
  );

  await knex.schema.createTable('oauth_tokens', (table) => {
    table.comment(
      'authorization codes, access tokens and refresh tokens; used ones stay, so that a second use is noticed',
    );
    table.bigInteger('workspace_id').notNullable();
    table.binary('digest').notNullable().comment('SHA-256 of the token');
    table.primary(['workspace_id', 'digest']);
    table.text('kind').notNullable();
    table.bigInteger('key_id').notNullable().comment('the agent');
    belongsTo(table, 'api_keys', 'key_id');
    table.jsonb('payload').notNullable().comment('what oidc-provider knows of it, without the token');
    table.timestamp('consumed_at', { precision: 3 });
    table.timestamp('expires_at', { precision: 3 }).notNullable().index();
    table.index(['workspace_id', 'key_id', 'expires_at'], 'oauth_tokens_of_agent');
  });
}

async function createAuditLog(knex: Knex): Promise<void> {
  await knex.schema.createTable('audit_log', (table) => {
    table.bigInteger('workspace_id').notNullable().references('workspaces.id');
    table.bigIncrements('id', { primaryKey: false });
    table.primary(['workspace_id', 'id']);
    table.timestamp('occurred_at', { precision: 3 }).notNullable();
    table.text('actor_type').notNullable().checkIn(['user', 'operator']);
    table.bigInteger('user_id');
    table.bigInteger('key_id');
    table.text('action').notNullable();
    table.text('target_type').notNullable();
    table.text('target_id').notNullable();
    table.jsonb('before');
    table.jsonb('after');
    table.index(['workspace_id', 'occurred_at', 'id'], 'audit_log_by_time');
    table.index(['workspace_id', 'user_id', 'occurred_at', 'id'], 'audit_log_by_user');
    table.index(['workspace_id', 'action', 'occurred_at', 'id'], 'audit_log_by_action');
  });
}

async function createErasures(knex: Knex): Promise<void> {
  await knex.schema.createTable('deleted_workspaces', (table) => {
    table.comment('workspaces whose rows are deleted for good, in all schemas');
    table.bigInteger('workspace_id').primary();
    table.text('slug').notNullable();
    table.timestamp('requested_at', { precision: 3 }).notNullable();
    table.timestamp('completed_at', { precision: 3 }).comment('null: rows may be left');
  });
  await knex.schema.createTable('erasures', (table) => {
    table.comment('users who are forgotten, and how far that has come');
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('user_id').notNullable();
    table.primary(['workspace_id', 'user_id']);
    table.foreign(['workspace_id', 'user_id']).references(['workspace_id', 'id']).inTable('users');
    table.timestamp('requested_at', { precision: 3 }).notNullable();
    table.timestamp('completed_at', { precision: 3 }).comment('null: some apps still have to erase the user');
    table.specificType('names', 'text[]').notNullable().comment('that the user had; empty in the end');
    table.specificType('emails', 'text[]').notNullable().comment('in lower case; empty in the end');
    table.bigInteger('version').notNullable().comment("the workspace's version at which the user was erased");
    table.specificType('remaining', 'text[]').notNullable().comment('the apps that have to erase the user, in order');
    table.jsonb('position').comment('how far the first of them has come; null: it has not begun');
    table.jsonb('places').notNullable().defaultTo('[]').comment('texts that name the user');
    table.boolean('has_more_places').notNullable().defaultTo(false).comment('than are stored');
  });
  await knex.raw('create index erasures_running on erasures (requested_at) where completed_at is null');
}

function timestamps(table: Knex.CreateTableBuilder, knex: Knex): void {
  table.timestamp('created_at', { precision: 3 }).notNullable().defaultTo(knex.fn.now());
  table.timestamp('updated_at', { precision: 3 }).notNullable().defaultTo(knex.fn.now());
}
