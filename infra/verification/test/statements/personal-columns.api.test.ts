import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { testServers } from '@tocsin/testing';
import { PERSONAL_TABLES as gateway } from '../../../../gateway/src/erasure/personal-tables.ts';
import { PERSONAL_TABLES as catalog } from '../../../../services/catalog/src/usecases/personal-data.ts';
import { PERSONAL_TABLES as customField } from '../../../../services/custom-field/src/usecases/personal-data.ts';
import { PERSONAL_TABLES as incident } from '../../../../services/incident/src/erasure/personal-data.ts';
import { PERSONAL_TABLES as webhook } from '../../../../services/webhook/src/erasure/personal-tables.ts';
import { migratedCatalog } from '../../compat/schema-baseline.ts';

const PERSONAL = new Map(
  Object.entries({ gateway, incident, catalog, custom_field: customField, webhook }).flatMap(([schema, tables]) =>
    Object.entries(tables).map(([table, { users = [], people = [], json = [], emptied = [], texts = [] }]) => [
      `${schema}.${table}`,
      [...users, ...people, ...json, ...emptied, ...texts],
    ]),
  ),
);

/** Of tables that several schemas have. */
const SHARED: Readonly<Record<string, string>> = {
  dead_letters: 'queue reason type',
  idempotency_keys: 'key route state',
  inbox: 'queue',
  migrations: 'name',
  migrations_lock: '',
  outbox: 'trace_context type',
};

/**
 * Columns of texts and JSON that have nothing of a person, that follow from others or from events, or that the erasure of a
 * user changes itself: those of users, of their accounts, and of what they are called.
 */
const OTHERS: Readonly<Record<string, string>> = {
  'catalog.configurations': 'prepared_tiers service_tiers',
  'catalog.on_call_sources': 'failure key_id kind origin schedule_id',
  'catalog.replica_users': 'email name sort_name',
  'catalog.replica_versions': 'position',
  'catalog.services': 'external_id observability_names runbook_url slug sort_name tier',
  'catalog.team_members': 'role',
  'catalog.teams': 'external_id slug sort_name',
  'custom_field.definitions': 'category external_id external_source field_type slug visibility_level',
  'gateway.api_keys': 'client_id kind scopes token_shown',
  'gateway.audit_log': 'action actor_type target_type',
  'gateway.deleted_workspaces': 'slug',
  'gateway.erasures': 'emails names places position remaining',
  'gateway.oauth_clients': 'id name redirect_uris',
  'gateway.oauth_tokens': 'kind payload',
  'gateway.oidc_identities': 'issuer subject',
  'gateway.oidc_providers': 'client_id groups issuer key_id',
  'gateway.scim_groups': 'display_name external_id',
  'gateway.scim_users': 'external_id user_name',
  'gateway.users': 'email name role seat',
  'gateway.workspaces': 'name quotas reporting_currency slug',
  'incident.alert_groups': 'quiet',
  'incident.alert_heartbeats': 'options',
  'incident.alert_members': 'severity',
  'incident.alert_notifications': 'format key_prefix outcome reason',
  'incident.changelog': 'api_key_prefix import_key',
  'incident.channel_updates': 'error_code request_id status trace_context',
  'incident.chat_connections': 'channel_template key_id',
  'incident.configurations': 'exchange_rates incident_roles on_call_lead time_zone',
  'incident.follow_up_tickets': 'failure key state status url',
  'incident.follow_ups': 'external_id external_url status texts_folded',
  'incident.former_postmortems': 'state',
  'incident.former_timeline_events': 'deleted_key_prefix edited_key_prefix external_id icon source type',
  'incident.incident_accesses': 'key_prefix',
  'incident.incident_mrr': 'currencies currency',
  'incident.incident_relations': 'type',
  'incident.incident_values': 'currency field_type option_keys options slug text_folded text_value value',
  'incident.incidents':
    'customer_impact_status doc_url external_id external_url impact_summary_folded issue_type last_event_summary latest_run meet_url mrr owner_folded postmortem_state region_folded region_keys regions role_keys service_folded severity severity_mode status title_folded update_reminder viewers visible_to',
  'incident.investigation_runs': 'run_id status',
  'incident.mrr_currencies': 'currency',
  'incident.pictures': 'content_type',
  'incident.postmortems': 'state',
  'incident.provisioning_steps': 'error_code key status',
  'incident.provisionings': 'channel_name marker request_id trace_context usergroups workspace_slug',
  'incident.replica_fields': 'definition slug',
  'incident.replica_services': 'observability_names slug tier',
  'incident.replica_teams': 'name slug',
  'incident.replica_tiers': 'key',
  'incident.replica_versions': 'owner position',
  'incident.retentions': 'retention',
  'incident.service_references': 'value',
  'incident.timeline_attachments': 'content_type storage_key url',
  'incident.timeline_events':
    'edited_key_prefix external_id icon source source_folded tags_folded texts_folded type type_folded',
  'incident.timeline_groups': 'name_folded',
  'incident.trackers': 'auto_filters issue_type key_id kind last_failure origin workspace',
  'incident.workspace_storage': 'next_key',
  'webhook.activity': 'subscription_id',
  'webhook.attempts': 'result',
  'webhook.deliveries': 'last_error status subscription_id',
  'webhook.destinations': 'filters header_names host key_id kind last_failure mark origin',
  'webhook.events': 'request_id trace_context',
  'webhook.feed_events': 'resource type',
  'webhook.feed_restrictions': 'resource',
  'webhook.host_addresses': 'host ip',
  'webhook.secrets': 'key_id subscription_id',
  'webhook.slots': 'host ip kind',
  'webhook.subscriptions': 'event_types header_names host id origin status url_key_id',
  'webhook.windows': 'key scope',
};

test('each column with texts is erased, searched, or known to have nothing of a person', async () => {
  const { databaseUrl: serverUrl, runId } = testServers();
  const name = `tocsin_test_${runId}_${randomBytes(4).toString('hex')}`;
  const { tables } = await migratedCatalog({ serverUrl, name });
  const columns = Object.entries(tables).flatMap(([table, { columns: ofTable }]) => {
    const others = OTHERS[table] ?? SHARED[table.split('.')[1] ?? ''] ?? '';
    const classified = [...(PERSONAL.get(table) ?? []), ...others.split(' ')];
    return Object.entries(ofTable)
      .filter(([, { type }]) => /^(?:text|jsonb?)/.test(type))
      .filter(([column]) => !classified.includes(column))
      .map(([column]) => `${table}.${column}`);
  });
  expect(columns).toEqual([]);
  expect(Object.keys(tables)).toEqual(expect.arrayContaining([...PERSONAL.keys()]));
});
