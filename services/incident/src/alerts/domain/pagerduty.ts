import { invalidRequest } from '@tocsin/http';
import { type Instant, ownProperty } from '@tocsin/runtime';
import { type Alert, type AlertOptions, digestOf, KEPT, type Notification } from './alert.ts';
import { type Body, bodyReader, isObject, shorten } from './body-reader.ts';

const ACTIONS = ['trigger', 'acknowledge', 'resolve'] as const;

/**
 * Reads an event as PagerDuty's Events API v2 takes it (contract: Alerts). Its keys name alerts, and nothing names a single
 * firing: a trigger while the alert fires is a repetition.
 * @throws DomainError `invalid_request` naming the property
 */
export function readPagerDuty(body: Body, { now, options }: { now: Instant; options: AlertOptions }): Notification {
  const read = bodyReader(now);
  const action = ACTIONS.find((each) => each === body['event_action']);
  if (action === undefined) throw invalidRequest('event_action', `Must be one of ${ACTIONS.join(', ')}`);
  const isTrigger = action === 'trigger';
  if (isTrigger && !isObject(body['payload'])) throw invalidRequest('payload', 'Must be an object');
  const payload = read.object(body['payload'], 'payload');
  const text = (name: string, max: number = KEPT.label) =>
    read.text(ownProperty(payload, name), `payload.${name}`, max);
  const summary = isTrigger
    ? read.text(read.required(payload['summary'], 'payload.summary'), 'payload.summary', KEPT.name)
    : text('summary', KEPT.name);
  const about = { source: text('source'), component: text('component'), group: text('group'), class: text('class') };
  const identity =
    isTrigger && (body['dedup_key'] ?? '') === ''
      ? // A repeated request has no second effect.
        digestOf(JSON.stringify([summary, ...Object.values(about)]))
      : read.required(body['dedup_key'], 'dedup_key');
  const details = isObject(payload['custom_details']) ? payload['custom_details'] : undefined;
  const labels: Body = { ...about, severity: text('severity'), ...details };
  const at = read.time(payload['timestamp'], 'payload.timestamp');
  const links = Array.isArray(body['links']) ? body['links'] : [];
  const images = Array.isArray(body['images']) ? body['images'] : [];
  const alert: Alert = {
    id: identity,
    key: digestOf(identity),
    state: action === 'resolve' ? 'ended' : 'firing',
    firing: null,
    startedAt: isTrigger ? at : null,
    endedAt: action === 'resolve' ? at : null,
    isAcknowledged: action === 'acknowledge',
    name: summary || shorten(identity, KEPT.name),
    summary,
    description: details === undefined ? text('custom_details', KEPT.text) : '',
    severity: read.text(ownProperty(labels, options.severityLabel), `payload.${options.severityLabel}`, KEPT.label),
    service:
      options.service ||
      read.text(
        ownProperty(labels, options.serviceLabel) ?? about.component,
        `payload.${options.serviceLabel}`,
        KEPT.label,
      ),
    labels: read.labels(labels, 'payload.custom_details').filter(([, value]) => value !== ''),
    links: read.links([
      ...links.map((link: unknown, index) => ({
        label: isObject(link) ? read.text(link['text'], `links.${index}.text`, KEPT.name) || 'Link' : 'Link',
        source: 'alert',
        url: isObject(link) ? link['href'] : link,
        field: `links.${index}.href`,
      })),
      {
        label: read.text(body['client'], 'client', KEPT.name) || 'Monitor',
        source: 'alert',
        url: body['client_url'],
        field: 'client_url',
      },
    ]),
    images: read.links(
      images.map((image: unknown, index) => ({
        label: isObject(image) ? read.text(image['alt'], `images.${index}.alt`, KEPT.name) : '',
        source: 'image',
        url: isObject(image) ? image['src'] : image,
        field: `images.${index}.src`,
      })),
    ),
  };
  return { groups: [{ identity, title: summary, alerts: [alert], isOver: false }], leftOut: read.leftOut };
}
