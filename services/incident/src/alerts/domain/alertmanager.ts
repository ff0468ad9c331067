import { invalidRequest } from '@tocsin/http';
import { type Instant, mapInParts, ownProperty } from '@tocsin/runtime';
import {
  type Alert,
  type AlertGroup,
  type AlertOptions,
  digestOf,
  KEPT,
  MAX_ALERTS,
  type Notification,
} from './alert.ts';
import { type Body, type BodyReader, bodyReader, isObject, shorten } from './body-reader.ts';

const STATES = new Map<unknown, Alert['state']>([
  ['firing', 'firing'],
  ['resolved', 'ended'],
]);

/**
 * Reads a notification of Alertmanager's webhook, version 4, which Grafana's extends (contract: Alerts).
 * @throws DomainError `invalid_request` naming the property
 */
export async function readAlertmanager(
  body: Body,
  { now, options }: { now: Instant; options: AlertOptions },
): Promise<Notification> {
  const read = bodyReader(now);
  if ('evalMatches' in body || 'ruleUrl' in body)
    throw invalidRequest(
      'alerts',
      "Is missing: this is Grafana's legacy alerting; use unified alerting (Grafana 9 or later)",
    );
  if (!Array.isArray(body['alerts']) || body['alerts'].length === 0)
    throw invalidRequest('alerts', 'Must be a list with at least one alert');
  if (body['alerts'].length > MAX_ALERTS) throw invalidRequest('alerts', `Must have at most ${MAX_ALERTS} items`);
  const common = read.object(body['commonAnnotations'], 'commonAnnotations');
  const alerts = await mapInParts(body['alerts'], (alert: unknown, index) =>
    alertOf(alert, `alerts.${index}`, { read, body, options }),
  );
  if (options.isGroupedByAlert) {
    const byIdentity = Map.groupBy(alerts, ({ id }) => id);
    const groups = [...byIdentity].map(([identity, same]) => ({
      identity,
      title: same[0]?.summary ?? '',
      alerts: same,
      isOver: false,
    }));
    return { groups, leftOut: read.leftOut };
  }
  const groupLabels = read.object(body['groupLabels'], 'groupLabels');
  const isCut = Number(body['truncatedAlerts']) > 0;
  const group: AlertGroup = {
    identity: read.required(body['groupKey'], 'groupKey'),
    title: read.text(common['summary'], 'commonAnnotations.summary', KEPT.name) || titleOf(alerts, groupLabels),
    alerts,
    // The status is that of the alerts which were not cut off.
    isOver: STATES.get(body['status']) === 'ended' && !isCut,
    isCut,
  };
  return { groups: [group], leftOut: read.leftOut };
}

/** The summary that all alerts have, or else what they are called, with the values that the group is about. */
function titleOf([first, ...others]: readonly Alert[], groupLabels: Body): string {
  if (first === undefined) return '';
  if (first.summary !== '' && others.every(({ summary }) => summary === first.summary)) return first.summary;
  const values = Object.values(groupLabels).filter((value) => typeof value === 'string' && value !== first.name);
  return values.length === 0 ? first.name : shorten(`${first.name} (${values.join(', ')})`, KEPT.name);
}

function alertOf(
  value: unknown,
  at: string,
  { read, body, options }: { read: BodyReader; body: Body; options: AlertOptions },
): Alert {
  if (!isObject(value)) throw invalidRequest(at, 'Must be an object');
  const state = STATES.get(value['status']);
  if (state === undefined) throw invalidRequest(`${at}.status`, 'Must be firing or resolved');
  const labels = read.object(value['labels'], `${at}.labels`);
  const annotations = read.object(value['annotations'], `${at}.annotations`);
  const id = identityOf(value['fingerprint'], labels);
  const startedAt = read.time(value['startsAt'], `${at}.startsAt`);
  const text = (from: Body, name: string, field: string, max?: number) =>
    read.text(ownProperty(from, name), `${at}.${field}.${name}`, max);
  const summary = text(annotations, 'summary', 'annotations', KEPT.name);
  const valueString = read.text(value['valueString'], `${at}.valueString`);
  return {
    id,
    key: digestOf(id),
    state,
    firing: startedAt,
    startedAt,
    // Of one that fires, it is when the monitor would end it.
    endedAt: state === 'ended' ? read.time(value['endsAt'], `${at}.endsAt`) : null,
    isAcknowledged: false,
    name: text(labels, 'alertname', 'labels', KEPT.name) || summary || shorten(namedByLabels(labels), KEPT.name),
    summary,
    description: [text(annotations, 'description', 'annotations'), valueString]
      .filter((each) => each !== '')
      .join('\n\n'),
    severity: text(labels, options.severityLabel, 'labels', KEPT.label),
    service: options.service || text(labels, options.serviceLabel, 'labels', KEPT.label),
    labels: read.labels(labels, `${at}.labels`),
    links: read.links([
      { label: 'Runbook', source: 'alert', url: annotations['runbook_url'], field: `${at}.annotations.runbook_url` },
      {
        label: 'Dashboard',
        source: 'alert',
        url: value['dashboardURL'] ?? annotations['dashboard_url'],
        field: `${at}.dashboardURL`,
      },
      { label: 'Panel', source: 'alert', url: value['panelURL'], field: `${at}.panelURL` },
      { label: 'Query', source: 'alert', url: value['generatorURL'], field: `${at}.generatorURL` },
      { label: 'Silence', source: 'alert', url: value['silenceURL'], field: `${at}.silenceURL` },
      { label: 'Alertmanager', source: 'alert', url: body['externalURL'], field: 'externalURL' },
    ]),
    images: read.links([{ label: '', source: 'image', url: value['imageURL'], field: `${at}.imageURL` }]),
  };
}

/** Alerts without a fingerprint are the same if their labels are. */
const identityOf = (fingerprint: unknown, labels: Body): string =>
  typeof fingerprint === 'string' && fingerprint !== ''
    ? fingerprint
    : digestOf(JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))));

const namedByLabels = (labels: Body) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
