import type { Instant } from '@tocsin/runtime';
import type { Severity, WorkflowStatus } from '../../configuration/domain/configuration.ts';
import type { Incident } from '../../incidents/domain/incident.ts';
import type { AlertOptions, HeardGroup } from './alert.ts';

/** What is known of an alert of a group. */
export interface Member {
  /** The digest of its group. */
  group: string;
  /** The digest of its identity. */
  alert: string;
  /** By which it is found when another group reports it. */
  mark: string;
  isFiring: boolean;
  /** When its latest firing began, as the monitor says it; null: it does not say. */
  firing: Instant | null;
  isAcknowledged: boolean;
  /** Key of the highest severity that the monitor has named in this firing; null: none. */
  severity: string | null;
  /** When we heard that it fires, or has ended. */
  changedAt: Instant;
}

export const memberKey = ({ group, alert }: Pick<Member, 'group' | 'alert'>) => `${group}/${alert}`;

export interface KnownGroup {
  /** Of the monitor's own identity. */
  digest: string;
  incidentId: number | null;
  /** Alerts that fire. */
  firing: number;
}

/** What alerts have done to an incident. */
export interface AlertIncident {
  /** When nothing fired any more, by our clock; null: something fires. */
  endedAt: Instant | null;
  /** What this end has given the incident as `recoveredAt`; null: nothing. */
  recoveredAt: Instant | null;
  /** The revision of the incident when its end had resolved it; null: it has not. */
  resolvedRevision: number | null;
  /** The latest of all ends, as monitors say them. */
  lastEnd: Instant | null;
}

/** An incident as far as the decision asks for it. */
export interface KnownIncident extends Pick<
  Incident,
  | 'id'
  | 'number'
  | 'createdAt'
  | 'revision'
  | 'status'
  | 'statusChangedAt'
  | 'archivedAt'
  | 'severity'
  | 'isUnhandledAlert'
  | 'isDuplicate'
  | 'recoveredAt'
  | 'impactStartedAt'
  | 'eventCount'
> {
  alerts: AlertIncident;
  /** Alerts of it that fire, of all monitors. */
  firing: number;
  /** Whoever archived it, or else changed its status last: a user's ID, or a part of the system; null: not known. */
  closedBy: string | null;
}

interface Configured {
  statuses: readonly WorkflowStatus[];
}

export const isTerminal = ({ status }: Pick<Incident, 'status'>, { statuses }: Configured): boolean =>
  statuses.find(({ key }) => key === status)?.isTerminal === true;

/** Neither archived nor in a terminal status. */
export const isOpen = (incident: Pick<Incident, 'status' | 'archivedAt'>, configured: Configured): boolean =>
  incident.archivedAt === null && !isTerminal(incident, configured);

/** The minute of a monitor, which bounds what it declares. */
export interface Minute {
  /** Incidents that it has declared in it, ended ones included. */
  declared: number;
  /** The last of them, which stands for all further groups. */
  lastIncidentId: number | null;
  /** How many groups that one stands for. */
  groups: number;
}

/** All that is known when something is heard of a monitor. */
export interface Known {
  /** By digest: the groups of which something is heard, and those in which their alerts were. */
  groups: ReadonlyMap<string, KnownGroup>;
  /**
   * By `memberKey`: the alerts of which something is heard, with those that fire in other groups, and all that fire of groups
   * that are over.
   */
  members: ReadonlyMap<string, Member>;
  /** Those of the groups, the last one of the minute, and what they are duplicates of. */
  incidents: ReadonlyMap<number, KnownIncident>;
  /** By the ID of a closed incident: the nearest open one that it is a duplicate of. */
  originals: ReadonlyMap<number, number>;
  minute: Minute;
}

/** The incident that an alert fires for; null: none. */
export const incidentOf = (member: Member | undefined, groups: Known['groups']): number | null =>
  member?.isFiring === true ? (groups.get(member.group)?.incidentId ?? null) : null;

/** What is heard of a monitor, from itself or because time has passed, and what it is judged by. */
export interface Heard {
  groups: readonly HeardGroup[];
  options: AlertOptions;
  statuses: readonly WorkflowStatus[];
  severities: readonly Severity[];
  /** Timeline events that an incident may have; null: unlimited. */
  eventQuota: number | null;
  now: Instant;
}
