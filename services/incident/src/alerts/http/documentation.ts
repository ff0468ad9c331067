import type { Documentation } from '@tocsin/http';
import type { alertContracts } from './contracts.ts';

const declared = {
  outcome: 'declared' as const,
  incident: { id: 4, human_id: 'INC-4' },
};

const heartbeatExample = {
  ...{ id: 1, name: 'Prometheus', api_key: { id: 3 }, within: 600, incident: null },
  heard_at: '2026-11-24T10:00:00.000Z',
};

/** contract: Alerts */
export const alertOperations: Documentation<typeof alertContracts> = {
  sendAlert: {
    description:
      'Takes an alert of a monitor that can send JSON of your choice. Alerts of one group belong to one incident while it is open; the same alert sent again changes nothing.',
    body: {
      id: 'disk-full db-1',
      status: 'firing',
      title: 'The disk of db-1 is full',
      severity: 'critical',
      service: 'checkout',
      started_at: '2026-11-24T09:58:00Z',
      labels: { host: 'db-1' },
      links: [{ url: 'https://wiki.example.com/disk-full', label: 'Runbook' }],
    },
    reply: {
      results: [{ identity: 'disk-full db-1', ...declared, alerts: [{ id: 'disk-full db-1', outcome: 'started' }] }],
      left_out: [],
    },
  },
  listAlertNotifications: {
    description:
      'Returns what has become of the notifications of monitors in the last 7 days, the newest first: the last 5,000 of each API key. A notification that declares or changes several incidents has a record for each.',
    reply: {
      notifications: [
        {
          id: 7,
          received_at: '2026-11-24T10:00:00.000Z',
          api_key: { id: 3, name: 'Alertmanager', prefix: 'tcs_7Jq2' },
          format: 'alertmanager',
          identity: '{}:{alertname="HighErrorRate"}',
          groups: 1,
          outcome: 'declared',
          reason: '',
          body_start: '',
          incident: { id: 4, human_id: 'INC-4' },
          started: 1,
          ended: 0,
          unchanged: 0,
        },
      ],
      pagination: { limit: 50, has_more: false },
    },
  },
  sendAlertmanagerAlerts: {
    description:
      "Takes the notifications of Alertmanager's webhook (version 4), and those of Grafana's, which has the same form. Point `webhook_configs` or a contact point here. Properties that are not known are ignored.",
    body: {
      version: '4',
      groupKey: '{}:{alertname="HighErrorRate"}',
      status: 'firing',
      receiver: 'tocsin',
      groupLabels: { alertname: 'HighErrorRate' },
      commonLabels: { alertname: 'HighErrorRate', service: 'checkout', severity: 'critical' },
      commonAnnotations: { summary: 'Checkout answers with errors' },
      externalURL: 'https://alertmanager.example.com',
      alerts: [
        {
          status: 'firing',
          labels: { alertname: 'HighErrorRate', service: 'checkout', severity: 'critical' },
          annotations: { summary: 'Checkout answers with errors', runbook_url: 'https://wiki.example.com/errors' },
          startsAt: '2026-11-24T09:58:00.000Z',
          endsAt: '0001-01-01T00:00:00Z',
          generatorURL: 'https://prometheus.example.com/graph?g0.expr=errors',
          fingerprint: '9d2f6b8a1c3e5f70',
        },
      ],
    },
    reply: {
      results: [
        {
          identity: '{}:{alertname="HighErrorRate"}',
          ...declared,
          alerts: [{ id: '9d2f6b8a1c3e5f70', outcome: 'started' }],
        },
      ],
      left_out: [],
    },
  },
  sendPagerDutyAlert: {
    description:
      "Takes events as monitors send them to PagerDuty's Events API v2. The API token is sent as everywhere; `routing_key` is ignored, as are properties that are not known.",
    body: {
      event_action: 'trigger',
      dedup_key: 'checkout/latency',
      payload: {
        summary: 'Checkout is slow',
        source: 'probe-1',
        severity: 'warning',
        component: 'checkout',
        timestamp: '2026-11-24T09:58:00Z',
        custom_details: { p99: '4.1 s' },
      },
      links: [{ href: 'https://wiki.example.com/latency', text: 'Runbook' }],
    },
    reply: {
      results: [
        { identity: 'checkout/latency', ...declared, alerts: [{ id: 'checkout/latency', outcome: 'started' }] },
      ],
      left_out: [],
    },
  },
  sendHeartbeat: {
    description:
      'Says that something is alive, with a name. If nothing with this name and key comes within `within` seconds, an incident is declared; it is resolved when one comes again. Alertmanager sends its alert that always fires with `?heartbeat=` instead.',
    reply: { heartbeat: { ...heartbeatExample, due_at: '2026-11-24T10:10:00.000Z' } },
  },
  listHeartbeats: {
    description:
      'Returns the heartbeats of all monitors, with when they are missed, and the incidents of those that are.',
    reply: { heartbeats: [{ ...heartbeatExample, due_at: null, incident: declared.incident }] },
  },
  deleteHeartbeat: {
    description:
      'Forgets a heartbeat, so that nothing happens if it does not come. The next one with its name makes it again.',
    params: { id: 1 },
  },
  sendSentryAlert: {
    description:
      'Takes the webhooks of an internal integration of Sentry: alert rules that name it as an action, and issues that are created, resolved, assigned or archived. The issue is the alert.',
    body: {
      action: 'triggered',
      data: {
        event: {
          issue_id: '1170820242',
          title: "TypeError: Cannot read properties of undefined (reading 'total')",
          level: 'error',
          culprit: 'cart.total',
          datetime: '2026-11-24T09:58:00.000000Z',
          tags: [
            ['environment', 'production'],
            ['service', 'checkout'],
          ],
          web_url: 'https://shop.sentry.example.com/issues/1170820242/',
        },
        triggered_rule: 'Errors of the checkout',
      },
    },
    reply: {
      results: [{ identity: '1170820242', ...declared, alerts: [{ id: '1170820242', outcome: 'started' }] }],
      left_out: [],
    },
  },
  sendAzureAlert: {
    description:
      'Takes the webhooks of an action group of Azure Monitor with the common alert schema. `alertId` is the alert, and a resource it is about is its service.',
    body: {
      schemaId: 'azureMonitorCommonAlertSchema',
      data: {
        essentials: {
          alertId: '/subscriptions/1/providers/Microsoft.AlertsManagement/alerts/7f6e',
          alertRule: 'High CPU of checkout',
          severity: 'Sev1',
          signalType: 'Metric',
          monitorCondition: 'Fired',
          monitoringService: 'Platform',
          configurationItems: ['checkout'],
          firedDateTime: '2026-11-24T09:58:00.3713213Z',
          description: 'More than 90 % in five minutes',
        },
        alertContext: {},
      },
    },
    reply: {
      results: [
        {
          identity: '/subscriptions/1/providers/Microsoft.AlertsManagement/alerts/7f6e',
          ...declared,
          alerts: [{ id: '/subscriptions/1/providers/Microsoft.AlertsManagement/alerts/7f6e', outcome: 'started' }],
        },
      ],
      left_out: [],
    },
  },
  enqueuePagerDutyEvent: {
    description:
      "The same for clients of PagerDuty's Events API v2, whose address is the path before `/v2/enqueue`. They send the API token as `routing_key`, in a body of at most 512 KiB; a token in a header comes first.",
    body: {
      event_action: 'trigger',
      dedup_key: 'checkout/latency',
      payload: { summary: 'Checkout is slow', source: 'probe-1', severity: 'warning' },
    },
    reply: { status: 'success', message: 'Event processed', dedup_key: 'checkout/latency' },
  },
};
