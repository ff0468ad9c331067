import { hash } from 'node:crypto';
import type { Instant } from '@tocsin/runtime';
import type { EvidenceLink } from '../../timeline/domain/timeline-event.ts';

/** The formats that alerts are sent in (contract: Alerts). */
export const FORMATS = ['alertmanager', 'azure', 'heartbeat', 'pagerduty', 'sentry', 'tocsin'] as const;
export type Format = (typeof FORMATS)[number];

/** What a monitor says of one alert. */
export interface Alert {
  /** Its identity in its group. */
  id: string;
  /** The digest of that. */
  key: string;
  state: 'firing' | 'ended';
  /** Which firing it is: another start is another firing. Null: the monitor does not say. */
  firing: Instant | null;
  startedAt: Instant | null;
  endedAt: Instant | null;
  isAcknowledged: boolean;
  /** For people: what it is called, and what it says. */
  name: string;
  summary: string;
  description: string;
  /** As the monitor sends it: a key, a label, or a usual word. Empty: nothing. */
  severity: string;
  /** A slug, or a name of the service in monitoring systems. Empty: none. */
  service: string;
  labels: readonly (readonly [name: string, value: string])[];
  links: readonly EvidenceLink[];
  /** Addresses of pictures that the monitor shows, with their names. */
  images?: readonly Pick<EvidenceLink, 'url' | 'label'>[];
}

/** The alerts of a notification that belong to one incident while it is open. */
export interface AlertGroup {
  /** The monitor's own identity of the group. */
  identity: string;
  /** For people; empty: that of its first alert. */
  title: string;
  alerts: readonly Alert[];
  /** Whether no alert of the group fires any more, those included that are not in the notification. */
  isOver: boolean;
  /** Whether the notification leaves some of the group's alerts out: these may fire. */
  isCut?: boolean;
  /** Of the identity, if that is not known as a whole. */
  digest?: string;
  /** It is over because nothing has been heard of it since then. */
  quietSince?: Instant;
  /** When it was heard last: the title says it. */
  heardAt?: Instant;
}

/** An alert with the digest of its identity and labels, by which it is known in another group of its monitor. */
export type HeardAlert = Alert & { mark: string };

/** A group with the digest of its identity, by which it is known. */
export type HeardGroup = Omit<AlertGroup, 'alerts'> & { digest: string; alerts: readonly HeardAlert[] };

/** Identities may be as short as the name of a check: alerts with other labels are others. */
const markOf = ({ id, labels }: Alert) =>
  digestOf(JSON.stringify([id, ...labels.toSorted(([one], [other]) => (one < other ? -1 : 1))]));

export const heardGroup = (group: AlertGroup): HeardGroup => ({
  ...group,
  digest: group.digest ?? digestOf(group.identity),
  alerts: group.alerts.map((alert) => ({ ...alert, mark: markOf(alert) })),
});

/** What was not kept of a notification. */
export interface LeftOut {
  field: string;
  reason: string;
}

export interface Notification {
  groups: readonly AlertGroup[];
  /** The first `MAX_LEFT_OUT`. */
  leftOut: readonly LeftOut[];
}

export const MAX_LEFT_OUT = 20;

/** The most alerts of a notification (contract: Alerts). */
export const MAX_ALERTS = 5_000;

/** What is kept of texts, in characters. */
export const KEPT = {
  identity: 500,
  name: 255,
  text: 4_000,
  label: 512,
  labels: 64,
  links: 20,
  url: 2_048,
  bodyStart: 200,
} as const;

/** How alerts become incidents: the query parameters, with their defaults (contract: Alerts). */
export interface AlertOptions {
  onEnd: 'note' | 'resolve';
  /** Milliseconds. */
  reopenWithin: number;
  /** Milliseconds after which an alert that still fires declares again what a person has closed. */
  remindAfter: number;
  /** The most incidents that a key declares in a minute. */
  newIncidents: number;
  /** Of a heartbeat: what it has if it is missed. */
  severity?: string;
  /** Seconds after which alerts that fire end if nothing is heard of them; null: never. */
  quietAfter: number | null;
  /** The service of all alerts; empty: that of each. */
  service: string;
  serviceLabel: string;
  severityLabel: string;
  isGroupedByAlert: boolean;
  /** Whether the incidents are restricted. */
  restricted: boolean;
}

/** By which alerts and groups are stored and found: their own identities may have any length. */
export const digestOf = (identity: string): string => hash('sha256', identity, 'hex').slice(0, 32);
