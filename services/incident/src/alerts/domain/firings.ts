import type { Instant } from '@tocsin/runtime';
import type { Severity } from '../../configuration/domain/configuration.ts';
import type { HeardAlert, HeardGroup } from './alert.ts';
import { type Member, memberKey } from './known.ts';
import { isAbove, severityOf } from './severity.ts';

export type AlertOutcome = 'started' | 'ended' | 'acknowledged' | 'raised' | 'unchanged';

/** What is new of an alert. */
export interface AlertChange {
  alert: HeardAlert;
  outcome: AlertOutcome;
  /** As it was known in its group, or as it fires in another one. */
  before: Member | undefined;
  after: Member;
}

/** What is new of the alerts of a group. */
export interface GroupChange {
  group: HeardGroup;
  changes: readonly AlertChange[];
  /** Alerts that end because their group is over, although nothing names them. */
  over: number;
  /** When a group that is over ended, as its monitor says it; null: now. */
  overAt: Instant | null;
}

/** Whether the monitor says now that an alert fires. */
export const isFiring = ({ alert, after }: AlertChange): boolean => alert.state === 'firing' && after.isFiring;

/**
 * Milliseconds in which a firing that has ended may be reported late. Whoever reports it afterwards means that it fires: no
 * monitor repeats for so long what it could not deliver.
 */
const LATE = 600_000;

interface Hearing {
  now: Instant;
  severities: readonly Severity[];
  /** Returns the key of the severity that a monitor means; null: none. */
  severityKey: (word: string) => string | null;
}

/**
 * Compares an alert with what is known of it (contract: Alerts, Order). A notification may come twice, late, and from several
 * monitors of a pair, whose clocks differ.
 *
 * | known        | heard                                              | is                                     |
 * | ------------ | -------------------------------------------------- | -------------------------------------- |
 * | nothing      | fires                                              | started                                |
 * | nothing      | has ended                                          | unchanged; a late start of it, too     |
 * | fires        | fires, with a later start                          | started again: its end was lost        |
 * | fires        | fires, with a higher severity                      | raised                                 |
 * | fires        | fires                                              | unchanged                              |
 * | fires        | is acknowledged, for the first time                | acknowledged                           |
 * | fires        | has ended, not before the known start              | ended, whichever start it names        |
 * | fires        | has ended before the known start                   | unchanged: that was an earlier firing  |
 * | has ended    | fires, later than the start that the end named     | started                                |
 * | has ended    | fires, without a start                             | started                                |
 * | has ended    | fires, with that start or an earlier one           | unchanged for ten minutes, then started |
 * | has ended    | has ended, is acknowledged                         | unchanged                              |
 */
function changeOf(
  alert: HeardAlert,
  before: Member | undefined,
  { group, now, severities, severityKey }: Hearing & { group: string },
): AlertChange {
  const { state, firing: start, isAcknowledged } = alert;
  const fires = before?.isFiring === true;
  const knownStart = before?.firing ?? null;
  const isLater = start === null || knownStart === null || start > knownStart;
  const named = severityKey(alert.severity);
  const change = (outcome: AlertOutcome, member: Partial<Member>): AlertChange => {
    const same = before ?? { firing: start, isFiring: false, isAcknowledged: false, severity: null, changedAt: now };
    const identity = { group, alert: alert.key, mark: alert.mark };
    return { alert, outcome, before, after: { ...same, ...identity, ...member } };
  };

  if (state === 'ended') {
    const isBefore = alert.endedAt !== null && knownStart !== null && alert.endedAt < knownStart;
    if (!fires) return change('unchanged', { firing: isLater ? (start ?? knownStart) : knownStart });
    if (isBefore) return change('unchanged', {});
    return change('ended', { isFiring: false, isAcknowledged: false, firing: start ?? knownStart, changedAt: now });
  }
  if (isAcknowledged)
    return fires && !before.isAcknowledged ? change('acknowledged', { isAcknowledged }) : change('unchanged', {});
  const isNew = fires
    ? start !== null && knownStart !== null && start > knownStart
    : before === undefined || isLater || Date.parse(now) - Date.parse(before.changedAt) > LATE;
  if (isNew) {
    const acknowledged = fires && before.isAcknowledged;
    return change('started', {
      isFiring: true,
      firing: start,
      isAcknowledged: acknowledged,
      severity: named,
      changedAt: now,
    });
  }
  if (!fires) return change('unchanged', {});
  const isHigher = named !== null && isAbove(named, before.severity, severities);
  const severity = isHigher ? named : before.severity;
  return change(isHigher ? 'raised' : 'unchanged', { firing: knownStart ?? start, severity });
}

/** What is new of all groups of which something is heard, and what is known then. */
export interface Changes {
  groups: readonly GroupChange[];
  members: ReadonlyMap<string, Member>;
}

/**
 * Compares groups of which something is heard, one after the other, with what is known. A group that is over ends those
 * that it does not name, too, except firings that began after its last end: the notification is late.
 */
export function comparison(
  stored: ReadonlyMap<string, Member>,
  { now, severities }: Pick<Hearing, 'now' | 'severities'>,
): { changeOf: (group: HeardGroup) => GroupChange; members: ReadonlyMap<string, Member> } {
  const keys = new Map<string, string | null>();
  const severityKey = (word: string): string | null => {
    if (!keys.has(word)) keys.set(word, severityOf(word, severities)?.key ?? null);
    return keys.get(word) ?? null;
  };
  const hearing = { now, severities, severityKey };
  const members = new Map<string, Member>();
  const byMark = new Map([...stored.values()].flatMap((each) => (each.isFiring ? [[each.mark, each]] : [])));
  const changeOfGroup = (group: HeardGroup): GroupChange => {
    const { alerts, digest, isOver } = group;
    const changes = alerts.map((alert) => {
      const key = memberKey({ group: digest, alert: alert.key });
      const inGroup = members.get(key) ?? stored.get(key);
      const compare = (before: Member | undefined) => changeOf(alert, before, { group: digest, ...hearing });
      const other = inGroup?.isFiring === true ? undefined : byMark.get(alert.mark);
      const moved = other && compare(other);
      // An end that is not meant leaves it where it is.
      const isMoved = moved !== undefined && (alert.state === 'firing' || moved.outcome === 'ended');
      const change = isMoved ? moved : compare(inGroup);
      // What is known of it moves along.
      if (isMoved && other !== undefined)
        members.set(memberKey(other), { ...other, isFiring: false, firing: null, changedAt: now });
      members.set(key, change.after);
      if (change.after.isFiring) byMark.set(alert.mark, change.after);
      else if (isMoved || inGroup?.isFiring === true) byMark.delete(alert.mark);
      return change;
    });
    // Without the end of one of them, it is over now.
    const ends = alerts.flatMap(({ endedAt }) => endedAt ?? []).sort();
    const overAt = ends.length < alerts.length ? null : (ends.at(-1) ?? null);
    let over = 0;
    if (isOver)
      for (const [key, member] of stored) {
        if (member.group !== digest || !member.isFiring || members.has(key)) continue;
        if (overAt !== null && member.firing !== null && member.firing > overAt) continue;
        // What was only not heard of starts again when it is heard, whichever start it names.
        const firing = group.quietSince === undefined ? member.firing : null;
        members.set(key, { ...member, isFiring: false, isAcknowledged: false, firing, changedAt: now });
        over += 1;
      }
    return { group, changes, over, overAt };
  };
  return { changeOf: changeOfGroup, members };
}
