import { invalidRequest } from '@tocsin/http';
import { ownProperty } from '@tocsin/runtime';
import { type AlertOptions, digestOf, KEPT, type Notification } from './alert.ts';
import { type Body, bodyReader, isObject } from './body-reader.ts';

/** What a webhook about an issue says of it. An issue that is archived is not looked at any more. */
const ACTIONS = new Map<unknown, 'firing' | 'acknowledged' | 'ended'>([
  ['triggered', 'firing'],
  ['created', 'firing'],
  ['unresolved', 'firing'],
  ['assigned', 'acknowledged'],
  ['resolved', 'ended'],
  ['archived', 'ended'],
  ['ignored', 'ended'],
]);

/**
 * Reads a webhook of Sentry's integration platform about an alert rule (`event_alert`) or an issue. Both name the issue,
 * which is the alert (contract: Alerts).
 * @throws DomainError `invalid_request` naming the property
 */
export function readSentry(body: Body, { now, options }: { now: string; options: AlertOptions }): Notification {
  const read = bodyReader(now);
  const action = ACTIONS.get(body['action']);
  if (action === undefined) throw invalidRequest('action', `Must be one of ${[...ACTIONS.keys()].join(', ')}`);
  const data = read.object(body['data'], 'data');
  const kind = isObject(data['event']) ? 'event' : 'issue';
  const at = `data.${kind}`;
  const about = data[kind];
  if (!isObject(about)) throw invalidRequest('data', 'Must have an event or an issue');
  const [id, idField] = kind === 'event' ? [about['issue_id'], `${at}.issue_id`] : [about['id'], `${at}.id`];
  const identity = read.required(typeof id === 'number' ? String(id) : id, idField);
  const title = read.text(about['title'], `${at}.title`, KEPT.name) || `Issue ${identity}`;
  const tags = Array.isArray(about['tags']) ? about['tags'] : [];
  const project = isObject(about['project']) ? about['project']['slug'] : about['project'];
  const labels: Body = {
    ...Object.fromEntries(tags.filter((tag): tag is [string, unknown] => Array.isArray(tag) && tag.length === 2)),
    ...{ project, level: about['level'], culprit: about['culprit'], rule: data['triggered_rule'] },
  };
  const label = (name: string) => read.text(ownProperty(labels, name), `${at}.${name}`, KEPT.label);
  const time = read.time(about[kind === 'event' ? 'datetime' : 'lastSeen'], `${at}.datetime`);
  return {
    groups: [
      {
        identity,
        title,
        isOver: false,
        alerts: [
          {
            ...{ id: identity, key: digestOf(identity), name: title, summary: title, firing: null },
            state: action === 'ended' ? 'ended' : 'firing',
            isAcknowledged: action === 'acknowledged',
            startedAt: action === 'firing' ? time : null,
            endedAt: null,
            description: read.text(about['message'], `${at}.message`),
            severity: label(options.severityLabel) || label('level'),
            service: options.service || label(options.serviceLabel) || label('project'),
            labels: read.labels(labels, at).filter(([, value]) => value !== ''),
            links: read.links([
              { label: 'Sentry', source: 'alert', url: about['web_url'], field: `${at}.web_url` },
              { label: 'Sentry', source: 'alert', url: about['permalink'], field: `${at}.permalink` },
            ]),
          },
        ],
      },
    ],
    leftOut: read.leftOut,
  };
}
