import type { Instant } from '@tocsin/runtime';
import { type Alert, type AlertOptions, digestOf, type Format, type Notification } from './alert.ts';
import { shorten } from './body-reader.ts';

/** A monitor that must be heard again and again (contract: Alerts, Heartbeats). */
export interface Heartbeat {
  id: number;
  name: string;
  /** Seconds. */
  within: number;
  heardAt: Instant;
  /** When it is missed, or its alert fires again as a monitor repeats what fires. */
  dueAt: Instant;
  /** Since when its alert fires; null: it does not. */
  missedAt: Instant | null;
  options: AlertOptions;
}

/** What is asked for if nothing is heard of a group whose alerts fire (contract: Alerts, Silence). */
export interface Quiet {
  /** The monitor's own identity of the group, shortened. */
  identity: string;
  format: Format;
  /** Seconds. */
  after: number;
  heardAt: Instant;
  options: AlertOptions;
}

/** No identity of a monitor's group begins with a control character. */
export const heartbeatIdentity = (name: string): string => `\u0001heartbeat ${name}`;

/** Characters of the name in a title. */
const NAMED = 150;

/** A heartbeat that was missed is an alert, which fires since it was heard last and ends when it is heard again. */
export function heartbeatAlert(
  { name, heardAt }: { name: string; heardAt: Instant | null },
  { severity = '', service }: Pick<AlertOptions, 'severity' | 'service'>,
): Notification {
  const identity = heartbeatIdentity(name);
  const title = `Nothing heard from ${shorten(name, NAMED)}`;
  const state = heardAt === null ? ('ended' as const) : ('firing' as const);
  const alert = {
    ...{ id: name, key: digestOf(name), state, isAcknowledged: false, name: title, severity, service },
    ...{ firing: heardAt, startedAt: heardAt, endedAt: null, summary: '', description: '', labels: [], links: [] },
  };
  const since = heardAt !== null && { heardAt };
  return { groups: [{ identity, title, alerts: [alert], isOver: false, ...since }], leftOut: [] };
}

/** The alerts of a group of which nothing has been heard for too long are over. */
export const quietGroup = ({ identity, heardAt }: Quiet, digest: string): Notification => ({
  groups: [{ identity, digest, title: '', alerts: [], isOver: true, quietSince: heardAt }],
  leftOut: [],
});

/** What is known of an alert that always fires: each one with other labels is a heartbeat of its own. */
export function heartbeatName({ name, labels }: Pick<Alert, 'name' | 'labels'>): string {
  const others = labels.filter(([label]) => label !== 'alertname' && label !== 'severity');
  const text = others.map(([label, value]) => `${label}=${value}`).sort();
  return text.length === 0 ? name : `${name} (${text.join(', ')})`;
}
