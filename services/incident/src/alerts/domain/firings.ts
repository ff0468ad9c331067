import type { Instant } from '@tocsin/runtime';
import type { Alert, AlertGroup } from './alert.ts';

/** What is known of an alert of a group. */
export interface Member {
  isFiring: boolean;
  /** Its latest firing; null: the monitor does not say which it is. */
  firing: Instant | null;
  isAcknowledged: boolean;
}

export type AlertOutcome = 'started' | 'ended' | 'acknowledged' | 'unchanged';

/** What a notification says of an alert that was not known. */
export interface AlertChange {
  alert: Alert;
  outcome: AlertOutcome;
  /** As it is known after the notification. */
  member: Member;
  /** Whether it fires again before anybody said that its last firing ended. */
  isRepeated: boolean;
}

/**
 * Compares an alert with what is known of it. A notification may come twice, late, and from several monitors: of two firings
 * the later one counts, and one that has ended does not start again.
 */
export function changeOf(alert: Alert, known: Member | undefined): AlertChange {
  const { state, firing, isAcknowledged } = alert;
  const isLater = known === undefined || firing === null || known.firing === null || firing > known.firing;
  const isEarlier = known !== undefined && firing !== null && known.firing !== null && firing < known.firing;
  const member = (isFiring: boolean): Member => ({
    isFiring,
    firing: isEarlier ? known.firing : (firing ?? known?.firing ?? null),
    isAcknowledged: isFiring && (isAcknowledged || (known?.isFiring === true && known.isAcknowledged)),
  });
  const change = (outcome: AlertOutcome, isFiring: boolean, isRepeated = false): AlertChange => ({
    alert,
    outcome,
    member: member(isFiring),
    isRepeated,
  });
  if (isAcknowledged) {
    if (known?.isFiring !== true || known.isAcknowledged) return change('unchanged', known?.isFiring === true);
    return change('acknowledged', true);
  }
  if (state === 'ended')
    return change(
      known?.isFiring === true && !isEarlier ? 'ended' : 'unchanged',
      known?.isFiring === true && isEarlier,
    );
  if (known?.isFiring === true) {
    const isOther = firing !== null && known.firing !== null && firing > known.firing;
    return change(isOther ? 'started' : 'unchanged', true, isOther);
  }
  return change(isLater ? 'started' : 'unchanged', isLater);
}

/**
 * Returns what a notification changes of a group: of each of its alerts, and of those that it does not name although the
 * group is over.
 * @param known by the keys of alerts
 */
export function changesOf(
  { alerts, isOver }: AlertGroup,
  known: ReadonlyMap<string, Member>,
): { changes: AlertChange[]; members: Map<string, Member>; over: number } {
  const members = new Map<string, Member>();
  const changes = alerts.map((alert) => {
    const change = changeOf(alert, members.get(alert.key) ?? known.get(alert.key));
    members.set(alert.key, change.member);
    return change;
  });
  let over = 0;
  if (isOver) {
    const ends = alerts.map(({ endedAt }) => endedAt ?? '');
    const lastEnd = ends.reduce((last, end) => (end > last ? end : last), '');
    for (const [key, member] of known) {
      // A firing that began later is not meant: the notification is late.
      if (!member.isFiring || members.has(key) || member.firing === null || member.firing > lastEnd) continue;
      members.set(key, { ...member, isFiring: false });
      over += 1;
    }
  }
  return { changes, members, over };
}
