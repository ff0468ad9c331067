import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import { read } from '../../incidents/http/contracts.ts';
import {
  alertBody,
  alertmanagerBody,
  alertmanagerQuery,
  alertsQuery,
  azureBody,
  enqueued,
  enqueuedBody,
  heartbeatList,
  heartbeatParams,
  heartbeatQuery,
  heartbeatReply,
  listQuery,
  notificationPage,
  pagerDutyBody,
  received,
  sentryBody,
} from './wire.ts';

const ALERTS = '/api/v1/alerts';

/** Monitors repeat the same names in each alert: a body of 1 MiB has that at most. */
const DOCUMENT = { complexity: 400_000, depth: 100 };

const write = {
  tag: 'Alerts',
  scope: 'alerts:write',
  basic: true,
  needs: ['active_responder'],
  // A quota.
  errors: ['invalid_resource_state'],
  reply: { status: 202, body: received },
} as const;

/** contract: Alerts */
export const alertContracts = {
  sendAlert: { ...endpoint('POST', ALERTS, 'Send an alert'), ...write, query: alertsQuery, body: alertBody },
  listAlertNotifications: {
    ...endpoint('GET', ALERTS, 'List notifications of alerts'),
    tag: 'Alerts',
    ...read,
    query: listQuery,
    cost: { base: 2 },
    reply: { status: 200, body: notificationPage },
  },
  sendAlertmanagerAlerts: {
    ...endpoint('POST', `${ALERTS}/alertmanager`, 'Send alerts of Alertmanager or Grafana'),
    ...write,
    document: DOCUMENT,
    query: alertmanagerQuery,
    body: alertmanagerBody,
  },
  sendPagerDutyAlert: {
    ...endpoint('POST', `${ALERTS}/pagerduty`, "Send an event in the format of PagerDuty's Events API v2"),
    ...write,
    query: alertsQuery,
    body: pagerDutyBody,
  },
  sendHeartbeat: {
    ...endpoint('POST', `${ALERTS}/heartbeat`, 'Say that a monitor is alive'),
    ...write,
    query: heartbeatQuery,
    reply: { status: 202, body: heartbeatReply, assigned: ['heartbeat.id'] },
  },
  listHeartbeats: {
    ...endpoint('GET', `${ALERTS}/heartbeats`, 'List heartbeats'),
    tag: 'Alerts',
    ...read,
    reply: { status: 200, body: heartbeatList },
  },
  deleteHeartbeat: {
    ...endpoint('DELETE', `${ALERTS}/heartbeats/{id}`, 'Forget a heartbeat'),
    tag: 'Alerts',
    scope: 'incidents:write',
    needs: ['active_responder'],
    params: heartbeatParams,
    reply: { status: 204 },
  },
  sendSentryAlert: {
    ...endpoint('POST', `${ALERTS}/sentry`, 'Send a webhook of Sentry about an alert rule or an issue'),
    ...write,
    document: DOCUMENT,
    query: alertsQuery,
    body: sentryBody,
  },
  sendAzureAlert: {
    ...endpoint('POST', `${ALERTS}/azure`, 'Send an alert of Azure Monitor in the common alert schema'),
    ...write,
    query: alertsQuery,
    body: azureBody,
  },
  /** As PagerDuty's own clients send events and read responses. */
  enqueuePagerDutyEvent: {
    ...endpoint('POST', `${ALERTS}/pagerduty/v2/enqueue`, "Send an event with a client of PagerDuty's Events API v2"),
    ...write,
    tokenProperty: 'routing_key',
    query: alertsQuery,
    body: enqueuedBody,
    reply: { status: 202, body: enqueued },
  },
} as const satisfies Contracts;

export type AlertApi = Handlers<typeof alertContracts>;
