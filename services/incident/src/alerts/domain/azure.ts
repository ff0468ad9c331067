import { invalidRequest } from '@tocsin/http';
import { ownProperty } from '@tocsin/runtime';
import { type AlertOptions, digestOf, KEPT, type Notification } from './alert.ts';
import { type Body, bodyReader } from './body-reader.ts';

const CONDITIONS = new Map<unknown, 'firing' | 'ended'>([
  ['Fired', 'firing'],
  ['Resolved', 'ended'],
]);

/**
 * Reads a notification in the common alert schema of Azure Monitor (contract: Alerts).
 * @throws DomainError `invalid_request` naming the property
 */
export function readAzure(body: Body, { now, options }: { now: string; options: AlertOptions }): Notification {
  const read = bodyReader(now);
  if (body['schemaId'] !== 'azureMonitorCommonAlertSchema')
    throw invalidRequest('schemaId', 'Must be azureMonitorCommonAlertSchema: enable the common alert schema');
  const data = read.object(body['data'], 'data');
  const essentials = read.object(data['essentials'], 'data.essentials');
  const state = CONDITIONS.get(essentials['monitorCondition']);
  if (state === undefined) throw invalidRequest('data.essentials.monitorCondition', 'Must be Fired or Resolved');
  const text = (name: string, max?: number) => read.text(ownProperty(essentials, name), `data.essentials.${name}`, max);
  const time = (name: string) => read.time(ownProperty(essentials, name), `data.essentials.${name}`);
  const identity = read.required(essentials['alertId'], 'data.essentials.alertId');
  const title = text('alertRule', KEPT.name) || identity;
  const items = Array.isArray(essentials['configurationItems']) ? essentials['configurationItems'] : [];
  const labels: Body = {
    ...read.object(data['customProperties'], 'data.customProperties'),
    resource: items.map(String).join(', '),
    signal: essentials['signalType'],
    monitor: essentials['monitoringService'],
  };
  const label = (name: string) => read.text(ownProperty(labels, name), `data.${name}`, KEPT.label);
  const startedAt = time('firedDateTime');
  return {
    groups: [
      {
        identity,
        title,
        isOver: false,
        alerts: [
          {
            ...{ id: identity, key: digestOf(identity), name: title, summary: title, state, isAcknowledged: false },
            ...{ firing: startedAt, startedAt },
            endedAt: state === 'ended' ? time('resolvedDateTime') : null,
            description: text('description'),
            severity: label(options.severityLabel) || text('severity', KEPT.label),
            service:
              options.service ||
              label(options.serviceLabel) ||
              read.text(items[0], 'data.essentials.configurationItems', KEPT.label),
            labels: read.labels(labels, 'data').filter(([, value]) => value !== ''),
            links: read.links([
              {
                label: 'Azure',
                source: 'alert',
                url: essentials['investigationLink'],
                field: 'data.essentials.investigationLink',
              },
            ]),
          },
        ],
      },
    ],
    leftOut: read.leftOut,
  };
}
