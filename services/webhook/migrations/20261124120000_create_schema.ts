import { createDeadLetterTable, createInboxTable, createOutboxTable } from '@tocsin/messaging';
import { addWorkspaceKey, belongsTo, type Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await createOutboxTable(knex);
  await createDeadLetterTable(knex);
  await createInboxTable(knex);
  await createSubscriptions(knex);
  await createDeliveries(knex);
  await createLimits(knex);
  await createFeed(knex);
  await createDestinations(knex);
  await knex.schema.createTable('deleted_incidents', (table) => {
    table.comment('whose events are emptied, and again if one comes later');
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('incident_id').notNullable();
    table.primary(['workspace_id', 'incident_id']);
    table.timestamp('heard_at', { precision: 3 }).notNullable().defaultTo(knex.fn.now());
    table.timestamp('due_at', { precision: 3 }).notNullable().defaultTo(knex.fn.now()).index();
  });
  await knex.schema.createTable('erased_users', (table) => {
    table.comment('of whom all events from before their erasure are here');
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('user_id').notNullable();
    table.primary(['workspace_id', 'user_id']);
  });
}

async function createSubscriptions(knex: Knex): Promise<void> {
  await knex.schema.createTable('subscriptions', (table) => {
    const moment = (name: string) => table.timestamp(name, { precision: 3 });
    table.bigInteger('workspace_id').notNullable();
    table.text('id').notNullable();
    table.primary(['workspace_id', 'id']);
    table.specificType('seq', 'bigserial').notNullable().comment('the order of creation');
    table.text('origin').notNullable().comment('scheme and host: all of the URL that is ever shown');
    table.text('host').notNullable().comment('what the limits by host name count');
    table.text('url_key_id').comment('null once revoked');
    table.binary('url_ciphertext').comment('the whole URL, sealed: its path and query may hold secrets');
    table.specificType('event_types', 'text[]').notNullable();
    table.text('status').notNullable().checkIn(['active', 'paused', 'revoked']);
    table.boolean('verified').notNullable().defaultTo(false);
    table.integer('consecutive_failures').notNullable().defaultTo(0);
    moment('created_at').notNullable();
    moment('updated_at').notNullable();
    moment('last_success_at');
    moment('last_failure_at');
    table.text('name').comment('what its users call it');
    table
      .specificType('header_names', 'text[]')
      .notNullable()
      .defaultTo('{}')
      .comment("of the headers of the receiver's own; their values are sealed with the URL");
    table.boolean('include_restricted').notNullable().defaultTo(false).comment('whether it gets restricted incidents');
    table.index(['workspace_id', 'seq']);
  });
  // The rotation of encryption keys looks for rows of replaced keys every hour; in most hours there are none.
  await knex.raw('create index subscriptions_url_key on subscriptions (url_key_id, id) where url_key_id is not null');
  // Who gets an event is looked up among the subscriptions in use: a workspace may have many revoked ones.
  await knex.raw(`create index subscriptions_in_use on subscriptions (workspace_id, seq) where status <> 'revoked'`);
  await knex.raw(`create index subscriptions_revoked on subscriptions (updated_at) where status = 'revoked'`);

  await knex.schema.createTable('secrets', (table) => {
    addWorkspaceKey(table);
    table.text('subscription_id').notNullable();
    belongsTo(table, 'subscriptions', 'subscription_id');
    table.text('key_id').notNullable();
    table.binary('ciphertext').notNullable().comment('sealed, with the subscription as context');
    table.timestamp('created_at', { precision: 3 }).notNullable();
    table
      .timestamp('expires_at', { precision: 3 })
      .index()
      .comment('null: the current one; else the end of its overlap');
    // A revocation deletes all secrets of a subscription: neither partial index has them all.
    table.index(['workspace_id', 'subscription_id']);
  });
  await knex.raw('create index secrets_key on secrets (key_id, id)');
  await knex.raw(
    `create unique index secrets_current on secrets (workspace_id, subscription_id) where expires_at is null`,
  );
  await knex.raw(`
    create unique index secrets_previous on secrets (workspace_id, subscription_id) where expires_at is not null`);

  await knex.schema.createTable('activity', (table) => {
    addWorkspaceKey(table);
    table.text('subscription_id').notNullable();
    belongsTo(table, 'subscriptions', 'subscription_id');
    table.timestamp('started_at', { precision: 3 }).notNullable();
    table.timestamp('ended_at', { precision: 3 }).index().comment('exclusive; null: goes on');
    table.bigInteger('after_number').comment('active for incidents of higher numbers; null: by started_at');
    table.bigInteger('until_number').comment('inclusive; null: by ended_at');
    table.index(['workspace_id', 'subscription_id', 'started_at']);
  });
  await knex.raw(
    `create unique index activity_current on activity (workspace_id, subscription_id) where ended_at is null`,
  );
}

async function createDeliveries(knex: Knex): Promise<void> {
  await knex.schema.createTable('events', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.uuid('id').notNullable();
    table.primary(['workspace_id', 'id']);
    table.text('body').notNullable().comment('the exact text that every attempt sends');
    table.text('request_id').comment('of the request that caused the event');
    table.timestamp('occurred_at', { precision: 3 }).notNullable();
    table.timestamp('queued_at', { precision: 3 }).notNullable().index();
    table.text('trace_context').comment('traceparent, and tracestate after a space; null without a trace');
    table.boolean('restricted').notNullable().defaultTo(false).comment('whether it is about a restricted incident');
  });

  await knex.schema.createTable('deliveries', (table) => {
    const moment = (name: string) => table.timestamp(name, { precision: 3 });
    addWorkspaceKey(table);
    table.uuid('event_id').notNullable();
    belongsTo(table, 'events', 'event_id');
    table.text('subscription_id').notNullable();
    belongsTo(table, 'subscriptions', 'subscription_id');
    table
      .text('status')
      .notNullable()
      .checkIn(['queued', 'held', 'succeeded', 'failed', 'cancelled'])
      .comment('held: queued, while the subscription is paused');
    table
      .integer('attempts')
      .notNullable()
      .defaultTo(0)
      .comment('whose requests were confirmed, the one under way included, and deferred ones');
    table.integer('failed_attempts').notNullable().defaultTo(0);
    moment('due_at').notNullable().comment('the next attempt; while one is under way, the end of its lease');
    moment('deadline_at').notNullable();
    table.uuid('lease_token').comment('set while an attempt is under way; who holds it may finish it');
    table.text('last_error').comment('a reason from a fixed list, never text of the receiver');
    table.integer('last_status').comment('the HTTP status of the latest answer');
    moment('finished_at');
    // An operator may deliver an event again, with attempts and a deadline of their own.
    table.specificType('redelivery', 'smallint').notNullable().defaultTo(0).comment('0: the first delivery');
    table.text('requested_by').comment('the operator who asked for the redelivery');
    table
      .boolean('is_postponed')
      .notNullable()
      .defaultTo(false)
      .comment('not due before due_at; a claim resets it when that time has come');
    table
      .specificType('internal_failures', 'smallint')
      .notNullable()
      .defaultTo(0)
      .comment('since the latest attempt: failures before a request, for a cause inside Tocsin');
    table.unique(['workspace_id', 'event_id', 'subscription_id', 'redelivery']);
    table.index(['workspace_id', 'subscription_id']);
  });
  await createDeliveryIndexes(knex);

  await knex.schema.createTable('attempts', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('delivery_id').notNullable();
    belongsTo(table, 'deliveries', 'delivery_id');
    table.specificType('number', 'smallint').notNullable().comment('counted as in deliveries.attempts');
    table.timestamp('started_at', { precision: 3 }).notNullable();
    table.integer('duration').notNullable().comment('milliseconds');
    table.text('result').notNullable().comment('succeeded, deferred, or the reason of the failure from a fixed list');
    table.integer('status').comment('the HTTP status, if response headers arrived');
    table.primary(['workspace_id', 'delivery_id', 'number']);
  });
}

async function createDeliveryIndexes(knex: Knex): Promise<void> {
  // One lane a subscription: the claim skips from lane to lane and looks at the head of each. Deliveries that are leased or
  // wait for another attempt are in no lane until they are due.
  await knex.raw(`
    create index deliveries_due_lanes on deliveries (workspace_id, subscription_id, due_at, id)
      where status = 'queued' and not is_postponed`);
  await knex.raw(`create index deliveries_postponed on deliveries (due_at) where status = 'queued' and is_postponed`);
  await knex.raw(`create index deliveries_due on deliveries (due_at) where status = 'queued'`);
  await knex.raw(`
    create index deliveries_waiting on deliveries (workspace_id, subscription_id) where status in ('queued', 'held')`);
  await knex.raw(`
    create index deliveries_deadline on deliveries (deadline_at) where status in ('queued', 'held')`);
  await knex.raw(`
    create unique index deliveries_leases on deliveries (workspace_id, lease_token) where lease_token is not null`);
  // Deliveries whose last attempt was lost in a crash are looked for every few seconds, among all that wait. 8: MAX_ATTEMPTS.
  await knex.raw(`
    create index deliveries_exhausted on deliveries (due_at) where status in ('queued', 'held') and attempts >= 8`);
}

/**
 * The limits on outgoing requests, shared by all replicas. Each belongs to a workspace, a host, an address or a share of
 * the installation; whoever counts a request for one holds its advisory lock.
 */
async function createLimits(knex: Knex): Promise<void> {
  await knex.schema.createTable('windows', (table) => {
    table.timestamp('minute', { precision: 3 }).notNullable();
    table.text('scope').notNullable();
    table.text('key').notNullable().comment('of the scope all: the number of the share');
    table.integer('used').notNullable();
    table.primary(['minute', 'scope', 'key']);
  });

  await knex.schema.createTable('slots', (table) => {
    table.uuid('token').primary();
    table.text('kind').notNullable().checkIn(['delivery', 'check']);
    table.bigInteger('workspace_id').notNullable();
    table.text('host').notNullable();
    table.text('ip').comment('null: not resolved yet, and never before');
    table.specificType('share', 'smallint').notNullable().comment('of the slots of the installation');
    table.timestamp('minute', { precision: 3 }).notNullable().comment('whose windows the request is counted in');
    table.specificType('window_share', 'smallint').notNullable().comment('of the windows of the installation');
    table
      .timestamp('lease_until', { precision: 3 })
      .notNullable()
      .comment('after it the slot is free, whoever held it');
  });

  await knex.schema.createTable('host_addresses', (table) => {
    table.text('host').primary();
    table.text('ip').notNullable().comment('where the host was last found');
    table.timestamp('seen_at', { precision: 3 }).notNullable().index();
  });
}

/**
 * Bytes are counted up and never down: what a feed has is the difference between its latest and its oldest event, however
 * events are deleted.
 */
async function createFeed(knex: Knex): Promise<void> {
  await knex.schema.createTable('feed_workspaces', (table) => {
    table.bigInteger('workspace_id').primary();
    table.bigInteger('position').notNullable().defaultTo(0).comment('of the latest event; 0: none yet');
    table.bigInteger('swept').notNullable().defaultTo(0).comment('events up to this position are deleted');
    table
      .timestamp('recorded_at', { precision: 3 })
      .comment('of the latest event: later ones never have an earlier time, whatever the clock does');
    table.bigInteger('recorded_bytes').notNullable().defaultTo(0).comment('of all events that were ever recorded');
    table
      .bigInteger('unrestricted_position')
      .notNullable()
      .defaultTo(0)
      .comment('of the latest event that all may know of');
    table
      .bigInteger('unrestricted_swept')
      .notNullable()
      .defaultTo(0)
      .comment('of the latest deleted event that all might know of');
  });

  await knex.schema.createTable('feed_events', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('position').notNullable().comment('1, 2, 3, … in each workspace, without gaps');
    table.uuid('event_id').notNullable();
    table.text('type').notNullable();
    table.text('resource').notNullable().comment('what the event is about, as the API writes it: incident:12');
    table.timestamp('recorded_at', { precision: 3 }).notNullable().index().comment('decides when it is deleted');
    table.text('body').notNullable().comment('the message as it came from the broker');
    table.bigInteger('recorded_bytes').notNullable().defaultTo(0).comment('of all events up to this one');
    table.boolean('restricted').notNullable().defaultTo(false).comment('whether it is about a restricted incident');
    table.primary(['workspace_id', 'position']);
    table.unique(['workspace_id', 'event_id']);
    table.index(['workspace_id', 'restricted', 'type', 'position']);
    table.index(['workspace_id', 'restricted', 'resource', 'type', 'position']);
  });

  await knex.schema.createTable('feed_restrictions', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.text('resource').notNullable();
    table.primary(['workspace_id', 'resource']);
    table.bigInteger('position').notNullable().comment('up to which its events are still to be hidden');
  });
}

async function createDestinations(knex: Knex): Promise<void> {
  await knex.schema.createTable('destinations', (table) => {
    const moment = (name: string) => table.timestamp(name, { precision: 3 });
    addWorkspaceKey(table);
    table.bigInteger('revision').notNullable();
    table.text('name').notNullable().comment('unique among those that are not archived');
    table.text('kind').notNullable();
    table.text('origin').notNullable().comment('scheme and host: all of the URL that is ever shown; empty: none');
    table.text('host').notNullable().comment('whose breaker counts its failures; empty: none');
    table.text('key_id').comment('null once archived');
    table.binary('ciphertext').comment('URL, credential and headers, sealed');
    table.boolean('has_credential').notNullable();
    table.specificType('header_names', 'text[]').notNullable();
    table.specificType('recipients', 'text[]').notNullable().comment('email addresses');
    table.jsonb('filters').notNullable();
    table.text('template').comment('null: the text of Tocsin');
    table.boolean('include_restricted').notNullable();
    table.boolean('is_paused').notNullable().defaultTo(false);
    moment('created_at').notNullable();
    moment('updated_at').notNullable();
    moment('archived_at');
    table.bigInteger('position').notNullable().comment('in the feed: everything up to it is sent, or for others');
    table.text('mark').notNullable().comment('of the event there');
    table.integer('failures').notNullable().defaultTo(0).comment('in a row');
    moment('failing_since');
    moment('last_success_at');
    moment('last_failure_at');
    table.text('last_failure').comment('a reason from a fixed list, never text of the receiver');
    table.integer('last_status').comment('the HTTP status of the latest failure');
    moment('due_at').notNullable().comment('before it, nothing is sent');
    table.bigInteger('left_out').notNullable().defaultTo(0).comment('events that were refused, each alone');
    table.uuid('lease_token').comment('who holds it may send');
    moment('lease_until');
  });
  await knex.raw(
    `create unique index destinations_by_name on destinations (workspace_id, lower(name)) where archived_at is null`,
  );
  await knex.raw('create index destinations_key on destinations (key_id, id) where key_id is not null');
  await knex.raw('create index destinations_archived on destinations (archived_at) where archived_at is not null');
  await knex.raw(`
    create index destinations_failing on destinations (failing_since)
    where failing_since is not null and archived_at is null and not is_paused`);
  // Whoever is behind the feed of its workspace is looked for among those that may be sent to.
  await knex.raw(`
    create index destinations_sent_to on destinations (workspace_id, position)
    where archived_at is null and not is_paused`);
}
