/**
 * `npm run bench:growth` measures what a row of each table takes, with its indexes: it lets a system work for a while,
 * copies all rows until the size of pages does not matter, and prints rows and bytes a row. docs/guides/operations.md
 * has the results in its section Growth.
 */
import { startReceiver } from '@tocsin/testing';
import { APP_NAMES, APPS } from '../../../apps.ts';
import { withClient } from '../../../databases.ts';
import { EXAMPLES } from '../../../generate/event-examples.ts';
import { fillTables } from '../../statements/fill-tables.ts';
import { findServers, releaseServers } from '../../servers/find-servers.ts';
import { growthLoad, RECEIVER_ADDRESSES } from './load.ts';
import { startSystem } from '../../systems/system.ts';

const SCHEMAS = APP_NAMES.map((app) => APPS[app].schema.name);
const COPIES = 3_000;

/** Leaves a few rows of those tables of which the load fills many: the tables with one row need many copies. */
const FEW = `
  delete from incident.incidents where number > 3;
  delete from incident.idempotency_keys where key !~ '-[0-4]$';
  delete from webhook.events where ctid not in (select ctid from webhook.events limit 5);
  delete from webhook.windows where ctid not in (select ctid from webhook.windows limit 5);
  delete from incident.inbox where ctid not in (select ctid from incident.inbox limit 5);
  delete from webhook.inbox where ctid not in (select ctid from webhook.inbox limit 5)`;

/** Rows of tables that the load does not fill, as large as they ordinarily are. */
const SAMPLES = `
  insert into incident.timeline_groups (workspace_id, id, name, name_folded, rank) values (1, 1, 'Comms', 'comms', 0);
  insert into incident.timeline_events (workspace_id, incident_id, revision, started_at, is_ongoing, is_key, source,
    source_ref, type, icon, title, body, collaboration_generation, tags, ai_context, created_by, evidence_links,
    source_folded, type_folded, tags_folded, texts_folded)
  select workspace_id, id, 1, now(), false, false, 'api', '', 'note', '', 'Seen', repeat('Something happened. ', 10), 0,
    '{}', '', '1', '[]', 'api', 'note', '{}', array['seen', repeat('something happened. ', 10)] from incident.incidents;
  insert into incident.timeline_attachments
    (timeline_event_id, filename, storage_key, content_type, size_bytes, created_at, created_by)
  select id, 'graph.png', 'incidents/1/graph.png', 'image/png', 20000, now(), '1' from incident.timeline_events;
  insert into incident.investigation_runs (incident_id, run_id, status, started_at, completed_at, told_at)
  select id, 'run-' || id, 'completed', now(), now(), now() from incident.incidents;
  insert into incident.incident_mrr (workspace_id, incident_id, currencies, currency, amount_minor, total_minor)
  select workspace_id, id, 'EUR', 'EUR', 120000, 120000 from incident.incidents;
  insert into incident.mrr_currencies (workspace_id, currency) values (1, 'EUR');
  insert into incident.chat_connections (workspace_id, key_id, token_ciphertext, channel_template, updated_at)
  values (1, 'key', decode(repeat('00', 90), 'hex'), 'inc-{number}', now());
  insert into incident.provisionings (incident_id, workspace_id, workspace_slug, is_demo, request_id, marker, usergroups,
    channel_name, created_at)
  select id, workspace_id, 'acme', false, gen_random_uuid(), 'tocsin-' || id, '{oncall}', 'inc-' || number, now()
  from incident.incidents;
  insert into incident.provisioning_steps (incident_id, workspace_id, key, status, attempts, updated_at)
  select incident_id, workspace_id, 'slack_channel', 'succeeded', 1, now() from incident.provisionings;
  insert into catalog.services (workspace_id, revision, name, sort_name, slug, tier, tags, observability_names, created_at,
    updated_at, version)
  select 1, 1, 'Checkout ' || n, 'checkout ' || n, 'checkout-' || n, 't2', '{}', '{}', now(), now(), n
  from generate_series(1, 3) as n;
  insert into catalog.team_members (team_id, user_id, role, created_at, updated_at)
  select id, 1, 'member', now(), now() from catalog.teams;
  insert into incident.replica_services (id, workspace_id, slug, tier, version)
  select id, workspace_id, slug, tier, version from catalog.services;
  insert into incident.configurations (workspace_id, exchange_rates) values (1, '{"EUR": 1, "USD": 1.1}')
  on conflict do nothing;
  insert into catalog.configurations (workspace_id, service_tiers)
  values (1, '[{"key": "t0", "name": "Critical"}, {"key": "t1", "name": "Other"}]') on conflict do nothing;
  insert into webhook.slots (token, kind, workspace_id, host, ip, minute, lease_until)
  values (gen_random_uuid(), 'delivery', 1, 'hooks.example.com', '192.0.2.1', now(), now())`;

await using started = new AsyncDisposableStack();
await findServers();
started.defer(releaseServers);
const receiver = await startReceiver({ host: '0.0.0.0', names: RECEIVER_ADDRESSES });
started.defer(receiver.stop);
const system = await startSystem({
  receivers: RECEIVER_ADDRESSES.map((address) => ({
    ca: receiver.ca,
    hostAndPort: () => receiver.hostAndPort(address),
  })),
  settings: { DATABASE_POOL_SIZE: '10' },
});
started.defer(system.stop);
await withClient(system.database.adminUrl, async (administrator) => {
  await (await growthLoad(system, receiver)).round();
  for (const name of APP_NAMES) await system.stopApp(name);
  await administrator.query(FEW);
  await administrator.query(SAMPLES);
  for (const app of APP_NAMES) {
    const { name } = APPS[app].schema;
    const event = EXAMPLES['incident.created'];
    await administrator.query(
      `insert into ${name}.outbox (message_id, type, body) values ($1::uuid, $2::text, $3::text)`,
      [event.id, event.type, JSON.stringify(event)],
    );
    await administrator.query(
      `insert into ${name}.dead_letters (queue, message_id, type, body, reason)
      select 'incident.replicas', message_id, type, body, 'delivery_limit' from ${name}.outbox`,
    );
  }
  const filled = await fillTables(administrator, { schemas: SCHEMAS, copies: COPIES });
  const { rows: events } = await administrator.query<{ bytes: number }>(
    'select avg(octet_length(body))::integer as bytes from webhook.events',
  );
  for (const [table, rows] of [...filled].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const { rows: sizes } = await administrator.query<{ bytes: string }>(
      `select pg_total_relation_size('${table}') as bytes`,
    );
    const bytes = rows === 0 ? '' : String(Math.round(Number(sizes[0]?.bytes) / rows));
    console.log(`${table.padEnd(32)} ${String(rows).padStart(8)} rows ${bytes.padStart(8)} bytes a row`);
  }
  console.log(`an event of an incident: ${events[0]?.bytes ?? 0} bytes`);
});
