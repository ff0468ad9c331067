import { APP_NAMES } from '../../installation/apps.ts';

/** Series in the notation of `promtool test rules`, with a sample a minute. */
export type Series = Readonly<Record<string, string>>;

/** What makes an alarm fire, and what does not. Times are minutes after the start of the series. */
export interface AlarmCase {
  /** With these series the alarm fires at `firesAfter`, once for each of `labels`. */
  broken: Series;
  firesAfter: number;
  /** When it is still silent, because the state has to last. */
  silentAt: number;
  labels: readonly Readonly<Record<string, string>>[];
  /** With these series it never fires: the ordinary state, or one that is just within the bound. */
  healthy: Series;
}

const GATEWAY = 'tocsin_gateway_request_duration_seconds';
const SERVICE = 'tocsin_http_request_duration_seconds';

/** A counter that rises by `perMinute` a minute. */
const rising = (perMinute: number) => `0+${perMinute}x120`;
const constant = (value: number, minutes = 120) => `${value}x${minutes}`;
/** A counter that rises once, in the given minute. */
const once = (minute: number) => `${constant(0, minute - 1)} ${constant(1, 120 - minute)}`;

/** A histogram of which this share of 600 requests a minute takes longer than a second. */
const histogram = (name: string, labels: string, slowShare: number): Series => ({
  [`${name}_bucket{${labels}le="1"}`]: rising(600 * (1 - slowShare)),
  [`${name}_bucket{${labels}le="2.5"}`]: rising(600),
  [`${name}_bucket{${labels}le="+Inf"}`]: rising(600),
});

/** 600 requests a minute at the gateway, of which this share fails. */
const requests = (failedShare: number): Series => ({
  [`${GATEWAY}_count{app="gateway",operation="list_incidents",status="200"}`]: rising(600 * (1 - failedShare)),
  [`${GATEWAY}_count{app="gateway",operation="list_incidents",status="503"}`]: rising(600 * failedShare),
});

/** 600 requests a minute, of which this share is refused for a reason. */
const refusals = (reason: string, share: number): Series => ({
  [`${GATEWAY}_count{app="gateway",operation="list_incidents",status="200"}`]: rising(600),
  [`tocsin_refusals_total{app="gateway",reason="${reason}",workspace_class="standard"}`]: rising(600 * share),
});

/** A gauge that is `bad` in one case and `good` in the other. */
const gauge = (
  series: string,
  { bad, good, ...expected }: { bad: number; good: number } & Pick<AlarmCase, 'firesAfter' | 'silentAt' | 'labels'>,
): AlarmCase => ({ ...expected, broken: { [series]: constant(bad) }, healthy: { [series]: constant(good) } });

/** By alarm. The test demands a case for each. */
export const ALARM_CASES: Readonly<Record<string, AlarmCase>> = {
  TocsinAppDown: {
    broken: Object.fromEntries(
      APP_NAMES.map((app) => [
        `tocsin_database_connections_max{app="${app}"}`,
        app === 'catalog' ? '10x5 stale _x100' : constant(10),
      ]),
    ),
    silentAt: 6,
    firesAfter: 8,
    labels: [{ app: 'catalog' }],
    healthy: Object.fromEntries(
      APP_NAMES.map((app) => [`tocsin_database_connections_max{app="${app}"}`, constant(10)]),
    ),
  },
  TocsinProcessDown: gauge('up{job="tocsin",app="webhook",instance="10.0.0.7:8080"}', {
    bad: 0,
    good: 1,
    silentAt: 1,
    firesAfter: 3,
    labels: [{ job: 'tocsin', app: 'webhook', instance: '10.0.0.7:8080' }],
  }),
  TocsinErrorRatioHigh: {
    broken: requests(0.06),
    silentAt: 4,
    firesAfter: 8,
    labels: [{}],
    healthy: requests(0.04),
  },
  TocsinErrorRatioElevated: {
    broken: requests(0.02),
    silentAt: 14,
    firesAfter: 20,
    labels: [{}],
    healthy: requests(0.005),
  },
  TocsinLatencyHigh: {
    broken: histogram(GATEWAY, 'app="gateway",operation="list_incidents",status="200",', 0.02),
    silentAt: 9,
    firesAfter: 14,
    labels: [{}],
    healthy: histogram(GATEWAY, 'app="gateway",operation="list_incidents",status="200",', 0.005),
  },
  TocsinServiceLatencyHigh: {
    broken: histogram(SERVICE, 'app="catalog",route="list_services",status="200",', 0.02),
    silentAt: 9,
    firesAfter: 14,
    labels: [{ app: 'catalog' }],
    healthy: histogram(SERVICE, 'app="catalog",route="list_services",status="200",', 0.005),
  },
  TocsinServiceUnavailable: {
    broken: {
      'tocsin_gateway_upstream_available{upstream="webhook",instance="a"}': constant(0),
      'tocsin_gateway_upstream_available{upstream="webhook",instance="b"}': constant(1),
      'tocsin_gateway_upstream_available{upstream="catalog",instance="a"}': constant(1),
    },
    silentAt: 0,
    firesAfter: 2,
    labels: [{ upstream: 'webhook' }],
    healthy: { 'tocsin_gateway_upstream_available{upstream="webhook",instance="a"}': constant(1) },
  },
  TocsinDatabaseUnavailable: {
    broken: {
      'tocsin_dependency_up{app="incident",dependency="database"}': constant(0),
      'tocsin_dependency_up{app="incident",dependency="broker"}': constant(1),
      'tocsin_database_serving{app="incident"}': constant(1),
      'tocsin_dependency_up{app="webhook",dependency="database"}': constant(1),
      'tocsin_database_serving{app="webhook"}': constant(0),
    },
    silentAt: 0,
    firesAfter: 2,
    labels: [{ app: 'incident' }, { app: 'webhook' }],
    healthy: {
      'tocsin_dependency_up{app="incident",dependency="database"}': constant(1),
      'tocsin_dependency_up{app="incident",dependency="broker"}': constant(0),
      'tocsin_database_serving{app="incident"}': constant(1),
    },
  },
  TocsinDatabaseDiskFull: {
    broken: { 'tocsin_database_failures_total{app="incident",reason="disk_full"}': once(10) },
    silentAt: 9,
    firesAfter: 11,
    labels: [{ app: 'incident' }],
    healthy: {
      'tocsin_database_failures_total{app="incident",reason="disk_full"}': constant(3),
      'tocsin_database_failures_total{app="incident",reason="refused"}': rising(60),
    },
  },
  TocsinPoolExhausted: {
    broken: { 'tocsin_database_refused_total{app="incident",reason="pool"}': rising(1) },
    silentAt: 1,
    firesAfter: 5,
    labels: [{ app: 'incident' }],
    healthy: {
      'tocsin_database_refused_total{app="incident",reason="pool"}': constant(7),
      'tocsin_database_refused_total{app="incident",reason="share"}': rising(60),
    },
  },
  TocsinPoolSaturated: gauge('tocsin_database_waiting{app="incident",instance="a"}', {
    bad: 6,
    good: 5,
    silentAt: 4,
    firesAfter: 6,
    labels: [{ app: 'incident', instance: 'a' }],
  }),
  TocsinEventLoopBlocked: {
    broken: { 'tocsin_event_loop_delay_seconds{app="incident",instance="a",statistic="max"}': constant(1.5) },
    silentAt: 0,
    firesAfter: 2,
    labels: [{ app: 'incident', instance: 'a', statistic: 'max' }],
    healthy: { 'tocsin_event_loop_delay_seconds{app="incident",instance="a",statistic="max"}': '0x9 1.5 0x100' },
  },
  TocsinBrokerUnavailable: gauge('tocsin_dependency_up{app="incident",dependency="broker"}', {
    bad: 0,
    good: 1,
    silentAt: 4,
    firesAfter: 6,
    labels: [{ app: 'incident' }],
  }),
  TocsinRedisUnavailable: gauge('tocsin_dependency_up{app="gateway",dependency="redis"}', {
    bad: 0,
    good: 1,
    silentAt: 4,
    firesAfter: 6,
    labels: [{ app: 'gateway' }],
  }),
  TocsinOutboxDelayed: {
    broken: { 'tocsin_outbox_oldest_seconds{app="incident"}': rising(60) },
    silentAt: 6,
    firesAfter: 8,
    labels: [{ app: 'incident' }],
    healthy: { 'tocsin_outbox_oldest_seconds{app="incident"}': constant(59) },
  },
  TocsinConsumerMissing: {
    broken: {
      'tocsin_consumer_active{app="webhook",queue="webhook.feed",instance="a"}': constant(0),
      'tocsin_consumer_active{app="webhook",queue="webhook.feed",instance="b"}': constant(0),
    },
    silentAt: 1,
    firesAfter: 3,
    labels: [{ app: 'webhook', queue: 'webhook.feed' }],
    healthy: {
      'tocsin_consumer_active{app="webhook",queue="webhook.feed",instance="a"}': constant(0),
      'tocsin_consumer_active{app="webhook",queue="webhook.feed",instance="b"}': constant(1),
    },
  },
  TocsinMessagesDelayed: {
    broken: {
      'tocsin_message_delay_seconds_bucket{app="incident",queue="incident.replicas",le="30"}': rising(5),
      'tocsin_message_delay_seconds_bucket{app="incident",queue="incident.replicas",le="60"}': rising(10),
      'tocsin_message_delay_seconds_bucket{app="incident",queue="incident.replicas",le="+Inf"}': rising(10),
    },
    silentAt: 9,
    firesAfter: 14,
    labels: [{ app: 'incident', queue: 'incident.replicas' }],
    healthy: {
      'tocsin_message_delay_seconds_bucket{app="incident",queue="incident.replicas",le="30"}': rising(10),
      'tocsin_message_delay_seconds_bucket{app="incident",queue="incident.replicas",le="60"}': rising(10),
      'tocsin_message_delay_seconds_bucket{app="incident",queue="incident.replicas",le="+Inf"}': rising(10),
    },
  },
  TocsinReplicaPullsFailing: {
    broken: {
      'tocsin_replica_pulls_total{app="incident",outcome="completed"}': rising(80),
      'tocsin_replica_pulls_total{app="incident",outcome="late"}': rising(10),
      'tocsin_replica_pulls_total{app="incident",outcome="failed"}': rising(10),
    },
    silentAt: 9,
    firesAfter: 14,
    labels: [{ app: 'incident' }],
    healthy: {
      'tocsin_replica_pulls_total{app="incident",outcome="completed"}': rising(95),
      'tocsin_replica_pulls_total{app="incident",outcome="late"}': rising(5),
    },
  },
  TocsinDeadLetters: gauge('tocsin_dead_letters_waiting{app="webhook",queue="webhook.feed"}', {
    bad: 1,
    good: 0,
    silentAt: 4,
    firesAfter: 6,
    labels: [{ queue: 'webhook.feed' }],
  }),
  TocsinDeliveriesLate: gauge('tocsin_webhook_oldest_due_seconds{app="webhook"}', {
    bad: 301,
    good: 300,
    silentAt: 4,
    firesAfter: 6,
    labels: [{}],
  }),
  TocsinDeliveriesFailing: {
    broken: {
      'tocsin_webhook_attempts_total{app="webhook",result="succeeded"}': rising(4),
      'tocsin_webhook_attempts_total{app="webhook",result="timeout"}': rising(5),
    },
    silentAt: 15,
    firesAfter: 25,
    labels: [{}],
    healthy: {
      'tocsin_webhook_attempts_total{app="webhook",result="succeeded"}': rising(5),
      'tocsin_webhook_attempts_total{app="webhook",result="timeout"}': rising(4),
      'tocsin_webhook_attempts_total{app="webhook",result="deferred"}': rising(50),
    },
  },
  TocsinDeliveriesSkipped: {
    broken: { 'tocsin_webhook_skipped_total{app="webhook"}': once(10) },
    silentAt: 9,
    firesAfter: 11,
    labels: [{}],
    healthy: { 'tocsin_webhook_skipped_total{app="webhook"}': constant(4) },
  },
  TocsinWebhookStopped: {
    broken: { 'tocsin_webhook_stopped_total{app="webhook"}': once(10) },
    silentAt: 9,
    firesAfter: 11,
    labels: [{}],
    healthy: { 'tocsin_webhook_stopped_total{app="webhook"}': constant(4) },
  },
  TocsinBreakersOpen: gauge('tocsin_webhook_breakers_open{app="webhook"}', {
    bad: 11,
    good: 10,
    silentAt: 9,
    firesAfter: 11,
    labels: [{}],
  }),
  TocsinOverloaded: {
    broken: refusals('service_down', 0.01),
    silentAt: 1,
    firesAfter: 5,
    labels: [{ app: 'gateway', reason: 'service_down' }],
    healthy: refusals('requests_a_minute', 0.5),
  },
  TocsinDeadlinesExceeded: {
    broken: refusals('deadline', 0.02),
    silentAt: 9,
    firesAfter: 14,
    labels: [{}],
    healthy: refusals('deadline', 0.005),
  },
  TocsinSharesExhausted: {
    broken: refusals('requests_in_flight', 0.06),
    silentAt: 9,
    firesAfter: 14,
    labels: [{}],
    healthy: refusals('body_bytes_in_flight', 0.04),
  },
  TocsinSlowBodies: {
    broken: refusals('slow_body', 0.2),
    silentAt: 4,
    firesAfter: 14,
    labels: [{}],
    healthy: refusals('slow_body', 0.1),
  },
  TocsinConnectionsRefused: {
    broken: { 'tocsin_gateway_connections_closed_total{app="gateway",reason="refused"}': rising(1) },
    silentAt: 1,
    firesAfter: 5,
    labels: [{}],
    healthy: { 'tocsin_gateway_connections_closed_total{app="gateway",reason="idle"}': rising(10) },
  },
  TocsinSecretsUnreadable: {
    broken: {
      'tocsin_webhook_undecryptable_values{app="webhook",kind="secret"}': constant(1),
      'tocsin_chat_unopened_tokens{app="incident"}': constant(2),
      'tocsin_on_call_unopened_addresses{app="catalog"}': constant(1),
      'tocsin_oidc_unopened_secrets{app="gateway"}': constant(1),
    },
    silentAt: 4,
    firesAfter: 6,
    labels: [{ app: 'webhook' }, { app: 'incident' }, { app: 'catalog' }, { app: 'gateway' }],
    healthy: {
      'tocsin_webhook_undecryptable_values{app="webhook",kind="secret"}': constant(0),
      'tocsin_chat_unopened_tokens{app="incident"}': constant(0),
      'tocsin_on_call_unopened_addresses{app="catalog"}': constant(0),
      'tocsin_oidc_unopened_secrets{app="gateway"}': constant(0),
    },
  },
  TocsinProvisioningFailing: {
    broken: {
      'tocsin_provisioning_attempts_total{app="incident",step="slack_channel",outcome="succeeded"}': rising(1),
      'tocsin_provisioning_attempts_total{app="incident",step="slack_channel",outcome="service_unavailable"}':
        rising(2),
    },
    silentAt: 14,
    firesAfter: 20,
    labels: [{}],
    healthy: {
      'tocsin_provisioning_attempts_total{app="incident",step="slack_channel",outcome="succeeded"}': rising(2),
      'tocsin_provisioning_attempts_total{app="incident",step="slack_channel",outcome="service_unavailable"}':
        rising(1),
    },
  },
  TocsinTaskFailing: {
    // The time of a test starts at 0. In the healthy state one of two processes succeeds every hour, the other one never.
    broken: { 'tocsin_task_last_success_timestamp_seconds{app="webhook",task="deleting expired data"}': '0x240' },
    silentAt: 184,
    firesAfter: 187,
    labels: [{ app: 'webhook', task: 'deleting expired data' }],
    healthy: {
      'tocsin_task_last_success_timestamp_seconds{app="webhook",task="deleting expired data",instance="a"}': '0x240',
      'tocsin_task_last_success_timestamp_seconds{app="webhook",task="deleting expired data",instance="b"}':
        '0x59 3600x59 7200x59 10800x59',
    },
  },
  TocsinMetricsMissing: gauge('tocsin_metrics_collector_failed{app="webhook",metric="tocsin_outbox_waiting"}', {
    bad: 1,
    good: 0,
    silentAt: 9,
    firesAfter: 11,
    labels: [{ app: 'webhook', metric: 'tocsin_outbox_waiting' }],
  }),
};
