import { ceilTimestamp } from '@tocsin/schemas';
import {
  buildPage,
  COST_HEADER,
  type Cursors,
  cursorsOf,
  DEFAULT_LIMIT,
  notFound,
  type RequestOf,
  type Route,
} from '@tocsin/http';
import { mapInParts } from '@tocsin/runtime';
import type { z } from 'zod';
import { humanId } from '../../incidents/domain/incident.ts';
import { type AlertOptions, type Format, KEPT, MAX_LEFT_OUT, type Notification } from '../domain/alert.ts';
import { readAlertmanager } from '../domain/alertmanager.ts';
import { beginningOf, shorten } from '../domain/body-reader.ts';
import { readAzure } from '../domain/azure.ts';
import { readPagerDuty } from '../domain/pagerduty.ts';
import { readOwnForm } from '../domain/own-form.ts';
import { readSentry } from '../domain/sentry.ts';
import { hearHeartbeat, hearOf } from '../overdue.ts';
import { type AlertDependencies, type GroupResult, receiveAlerts, senderOf } from '../receive-alerts.ts';
import { deleteHeartbeat, type ListedHeartbeat, listHeartbeats } from '../store/heartbeat-store.ts';
import type { Knex } from '@tocsin/postgres';
import { addRecords, type ListedRecord, listRecords } from '../store/record-store.ts';
import { type AlertApi, alertContracts } from './contracts.ts';
import type { alertmanagerQuery, HeartbeatWire, NotificationWire } from './wire.ts';

/** Alerts of a notification that cost as much as a request. */
const ALERTS_BY_COST = 10;

type Reading = { now: string; options: AlertOptions };

export function alertHandlers(dependencies: AlertDependencies & { cursors: Cursors }): AlertApi {
  const handler =
    <Body>(format: Format, read: (body: Body, reading: Reading) => Notification | Promise<Notification>) =>
    async (
      request: Pick<RequestOf<typeof alertContracts.sendAlertmanagerAlerts>, 'principal' | 'requestId' | 'query'> & {
        body: Body;
      },
    ) => {
      const { principal, requestId, query, body } = request;
      const options = optionsOf(query);
      const notification = await read(body, { now: dependencies.clock.now(), options });
      const alerts = notification.groups.reduce((sum, group) => sum + group.alerts.length, 0);
      const headers = { [COST_HEADER]: String(Math.floor(alerts / ALERTS_BY_COST)) };
      if (query.heartbeat !== undefined) {
        const within = query.heartbeat;
        const heard = await hearOf(dependencies, { principal, requestId, within, options, notification });
        return { body: { results: heard.map(resultView), left_out: [...notification.leftOut] }, headers };
      }
      const command = { principal, requestId, format, notification, options };
      const { results, leftOut } = await receiveAlerts(dependencies, command);
      return {
        body: {
          results: await mapInParts(results, resultView),
          left_out: [...notification.leftOut, ...leftOut].slice(0, MAX_LEFT_OUT),
        },
        assigned: results.flatMap(({ outcome }, index) => (outcome === 'declared' ? `results.${index}.incident` : [])),
        headers,
      };
    };

  const sendPagerDutyAlert = handler('pagerduty', readPagerDuty);
  return {
    sendAlert: handler('tocsin', readOwnForm),
    sendAlertmanagerAlerts: handler('alertmanager', readAlertmanager),
    sendPagerDutyAlert,
    sendSentryAlert: handler('sentry', readSentry),
    sendAzureAlert: handler('azure', readAzure),
    enqueuePagerDutyEvent: async (request) => {
      const { body, headers } = await sendPagerDutyAlert(request);
      const [{ identity } = { identity: '' }] = body.results;
      return { body: { status: 'success', message: 'Event processed', dedup_key: identity }, headers };
    },
    ...heartbeatHandlers(dependencies),
    listAlertNotifications: notificationList(dependencies),
  };
}

function heartbeatHandlers(
  dependencies: AlertDependencies,
): Pick<AlertApi, 'sendHeartbeat' | 'listHeartbeats' | 'deleteHeartbeat'> {
  const { database } = dependencies;
  return {
    sendHeartbeat: async ({ principal, requestId, query }) => {
      const { name, within, severity = '', service = '', restricted } = query;
      const options: AlertOptions = { ...optionsOf({ restricted }), onEnd: 'resolve', service, severity };
      const command = { principal, requestId, name: name.trim(), within, options };
      const { heartbeat, result } = await hearHeartbeat(dependencies, command);
      const { monitorId: keyId } = senderOf({ principal });
      const incident = result?.incident ?? null;
      return {
        body: {
          heartbeat: heartbeatView({
            ...{ ...heartbeat, keyId },
            ...{ incidentId: incident?.id ?? null, incidentNumber: incident?.number ?? null },
          }),
        },
      };
    },

    listHeartbeats: async ({ principal: { workspace } }) => {
      const rows = await listHeartbeats(database, workspace.id);
      return { body: { heartbeats: rows.map(heartbeatView) } };
    },

    deleteHeartbeat: async ({ principal: { workspace }, params }) => {
      if (!(await deleteHeartbeat(database, workspace.id, params.id))) throw notFound('The heartbeat');
      return {};
    },
  };
}

function notificationList({
  database,
  cursors,
}: {
  database: Knex;
  cursors: Cursors;
}): AlertApi['listAlertNotifications'] {
  const positions = cursorsOf(cursors, { name: 'id', keys: ['integer'] });
  return async ({ principal: { workspace }, query }) => {
    const { limit = DEFAULT_LIMIT, cursor, key_id: keyId, outcome = [] } = query;
    const filters = {
      keyId,
      from: query.received_from === undefined ? null : (ceilTimestamp(query.received_from) ?? null),
      outcomes: [...new Set(outcome)].sort(),
      before: query.received_to === undefined ? null : (ceilTimestamp(query.received_to) ?? null),
    };
    const scope = {
      workspaceId: workspace.id,
      path: alertContracts.listAlertNotifications.path,
      filters,
    };
    const [before] = cursor === undefined ? [] : positions.decode(cursor, scope);
    const { rows, pagination } = await buildPage({
      listed: await listRecords(database, {
        workspaceId: workspace.id,
        filters,
        limit: limit + 1,
        before,
      }),
      limit,
      view: notificationView,
      nextCursor: (last) => positions.encode([last.id], scope),
    });
    return { body: { notifications: rows, pagination } };
  };
}

/** Keeps what was refused of a monitor's, with the beginning of its body: most faults are in a template. */
export function alertRefusals({ database, clock }: Pick<AlertDependencies, 'database' | 'clock'>) {
  const recordAs =
    (format: Format): Route['onRefusal'] =>
    async ({ principal, error: { field, message }, bytes }) =>
      addRecords(database, senderOf({ principal }), [
        {
          receivedAt: clock.now(),
          keyName: principal.key?.name ?? '',
          keyPrefix: principal.key?.prefix ?? '',
          format,
          identity: '',
          outcome: 'refused',
          reason: shorten(field === undefined ? message : `${field}: ${message}`, KEPT.identity),
          bodyStart: beginningOf(bytes),
          incidentId: null,
          ...{ groups: 0, started: 0, ended: 0, unchanged: 0 },
        },
      ]);
  return {
    sendAlert: recordAs('tocsin'),
    sendAlertmanagerAlerts: recordAs('alertmanager'),
    sendPagerDutyAlert: recordAs('pagerduty'),
    enqueuePagerDutyEvent: recordAs('pagerduty'),
    sendSentryAlert: recordAs('sentry'),
    sendAzureAlert: recordAs('azure'),
  };
}

const heartbeatView = ({
  id,
  name,
  keyId,
  within,
  heardAt,
  dueAt,
  missedAt,
  ...of
}: ListedHeartbeat): HeartbeatWire => ({
  ...{ id, name, api_key: { id: keyId }, within, heard_at: heardAt, due_at: missedAt === null ? dueAt : null },
  incident:
    of.incidentId === null || of.incidentNumber === null
      ? null
      : { id: of.incidentId, human_id: humanId(of.incidentNumber) },
});

const optionsOf = (query: z.output<typeof alertmanagerQuery>): AlertOptions => ({
  onEnd: query.on_end ?? 'note',
  reopenWithin: (query.reopen_within ?? 3_600) * 1_000,
  remindAfter: (query.remind_after ?? 86_400) * 1_000,
  newIncidents: query.new_incidents ?? 20,
  quietAfter: query.quiet_after ?? null,
  service: query.service ?? '',
  serviceLabel: query.service_label ?? 'service',
  severityLabel: query.severity_label ?? 'severity',
  isGroupedByAlert: query.group === 'alert',
  restricted: query.restricted ?? false,
});

const resultView = ({ identity, outcome, reason, incident, remindAt, alerts }: GroupResult) => ({
  identity,
  outcome: outcome as Exclude<GroupResult['outcome'], 'refused'>,
  ...(reason !== '' && { reason }),
  ...(remindAt !== undefined && { declared_again_at: remindAt }),
  incident: incident && { id: incident.id, human_id: humanId(incident.number) },
  alerts: [...alerts],
});

const notificationView = (record: ListedRecord): NotificationWire => ({
  id: record.id,
  received_at: record.receivedAt,
  api_key: { id: record.keyId, name: record.keyName, prefix: record.keyPrefix },
  format: record.format,
  identity: record.identity,
  groups: record.groups,
  outcome: record.outcome,
  reason: record.reason,
  body_start: record.bodyStart,
  incident:
    record.incidentId === null || record.incidentNumber === null
      ? null
      : { id: record.incidentId, human_id: humanId(record.incidentNumber) },
  started: record.started,
  ended: record.ended,
  unchanged: record.unchanged,
});
