import type { Instant } from '@tocsin/runtime';
import { type Alert, type AlertOptions, digestOf, KEPT, type Notification } from './alert.ts';
import { bodyReader } from './body-reader.ts';

/** An alert in the form of Tocsin, for monitors with a template (contract: Alerts). */
interface OwnForm {
  id: string;
  group?: string | undefined;
  status: 'firing' | 'resolved';
  title: string;
  description?: string | undefined;
  severity?: string | undefined;
  service?: string | undefined;
  started_at?: string | undefined;
  ended_at?: string | undefined;
  labels?: Readonly<Record<string, string>> | undefined;
  links?: readonly { url: string; label?: string | undefined }[] | undefined;
}

/** Shortens what is too long: a template of a monitor cannot. */
export function readOwnForm(body: OwnForm, { now, options }: { now: Instant; options: AlertOptions }): Notification {
  const read = bodyReader(now);
  const { id, group = id, status, links = [] } = body;
  const labels = new Map(Object.entries(body.labels ?? {}));
  const text = (name: 'title' | 'description' | 'severity' | 'service', max?: number, label = '') =>
    read.text(body[name] ?? labels.get(label), name, max);
  const title = text('title', KEPT.name);
  const startedAt = read.time(body.started_at, 'started_at');
  const alert: Alert = {
    ...{ id, key: digestOf(id), isAcknowledged: false, name: title, summary: title, firing: startedAt, startedAt },
    state: status === 'firing' ? 'firing' : 'ended',
    endedAt: status === 'firing' ? null : read.time(body.ended_at, 'ended_at'),
    description: text('description'),
    severity: text('severity', KEPT.label, options.severityLabel),
    service: options.service || text('service', KEPT.label, options.serviceLabel),
    labels: read.labels(body.labels ?? {}, 'labels'),
    links: read.links(
      links.map(({ url, label = 'Link' }, index) => ({ label, url, source: 'alert', field: `links.${index}.url` })),
    ),
  };
  return { groups: [{ identity: group, title, alerts: [alert], isOver: false }], leftOut: read.leftOut };
}
