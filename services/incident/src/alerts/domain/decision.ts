import type { Instant } from '@tocsin/runtime';
import { type Act, effectsOn, type Place, type Placed, type Ref } from './effects.ts';
import { type AlertChange, type Changes, type GroupChange, isFiring } from './firings.ts';
import { type Heard, incidentOf, isOpen, isTerminal, type Known, type KnownIncident, type Member } from './known.ts';

/** What has become of a group (contract: Alerts). */
export const OUTCOMES = [
  'declared',
  'added',
  'unchanged',
  'ended',
  'reopened',
  'collected',
  'closed_by_person',
  'refused',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What has become of a group. */
export interface Answer extends Omit<GroupChange, 'overAt'> {
  outcome: Outcome;
  incident: Ref | null;
  /** Why something was not done; absent: all was. */
  reason?: 'not_firing' | 'archived' | 'full';
  /** With `closed_by_person`: when it is declared again. */
  remindAt?: Instant;
}

export interface Decision {
  effects: readonly { incident: Ref; acts: readonly Act[] }[];
  answers: readonly Answer[];
  /** What is known then. */
  groups: readonly { digest: string; incident: Ref | null; firing: number }[];
  members: ReadonlyMap<string, Member>;
  minute: { declared: number; last: Ref | null; groups: number };
  /** The incidents on whose state this depends, which have to be locked. */
  touched: ReadonlySet<number>;
}

/**
 * Decides what follows from what is heard of a monitor, and new of its alerts. The law (contract: Alerts): if its last word about an alert is that
 * it fires, an open incident stands for the alert, or a person has closed that one and it is known when it is declared again.
 */
export function decide({ groups, members }: Changes, stored: Known, heard: Heard): Decision {
  const { placed, minute, touched } = placeAll(groups, stored, heard);
  const kept = groupsAfter(placed, members, stored);
  const gains = gainsOf(kept, stored);
  const left = leftOf(placed, stored);
  const byIncident = Map.groupBy(placed, ({ place }) => place.to);
  const done = [...new Set([...left.keys(), ...byIncident.keys()])].flatMap((ref) =>
    ref === null
      ? []
      : effectsOn(ref, {
          placed: byIncident.get(ref) ?? [],
          left: left.get(ref) ?? [],
          firing: (stored.incidents.get(ref)?.firing ?? 0) + (gains.get(ref) ?? 0),
          collected: minute.groups,
          ...{ stored, heard },
        }),
  );
  const effects = done.filter(({ acts }) => acts.length > 0);
  for (const ref of [...left.keys(), ...effects.map(({ incident }) => incident)]) if (ref > 0) touched.add(ref);
  const full = new Set(done.flatMap(({ incident, isFull }) => (isFull ? incident : [])));
  const answers = placed.map((each) => answerOf(each, stored, full));
  return { effects, answers, groups: [...kept.values()], members, minute, touched };
}

/** Finds the place of each group. Each that needs an incident gets one, as many as the minute allows; the last has the rest. */
function placeAll(groups: readonly GroupChange[], stored: Known, heard: Heard) {
  const { declared, lastIncidentId, groups: collected } = stored.minute;
  const minute: Decision['minute'] = { declared, last: lastIncidentId, groups: collected };
  const touched = new Set<number>();
  let next: Ref = 0;
  /** An incident that its alerts have ended in this minute stands for others again; what a person has closed does not. */
  const collects = (ref: Ref): boolean => {
    if (ref < 0) return true;
    touched.add(ref);
    const last = stored.incidents.get(ref);
    return last !== undefined && (isOpen(last, heard) || isResolvedByAlerts(last, heard));
  };
  const placed = groups.map((change): Placed => {
    const place = placeOf(change, stored, heard);
    if (place.as === 'standing') return { ...change, place };
    if (place.to !== null) touched.add(place.to);
    if (place.related !== undefined) touched.add(place.related.id);
    if (place.as !== 'declared') return { ...change, place };
    if (minute.declared >= heard.options.newIncidents && minute.last !== null && collects(minute.last)) {
      minute.groups += 1;
      return { ...change, place: { as: 'collected', to: minute.last } };
    }
    next -= 1;
    Object.assign(minute, { declared: minute.declared + 1, last: next, groups: 1 });
    return { ...change, place: { ...place, to: next } };
  });
  return { placed, minute, touched };
}

/**
 * Returns where a group belongs. Its incident is its own one, or else that of a group in which its alerts were.
 *
 * | its incident                                                    | its alerts                  | place                  |
 * | --------------------------------------------------------------- | --------------------------- | ---------------------- |
 * | is open                                                         | any                         | there                  |
 * | is closed, and a duplicate of an open one                       | any                         | the open one           |
 * | is closed, or there is none                                     | none fires                  | there: the end is noted |
 * | none                                                            | one fires                   | declared               |
 * | the end of alerts resolved it, `reopen_within` ago, unchanged   | one fires                   | reopened               |
 * | the end of alerts resolved it                                   | one fires                   | declared               |
 * | a person closed it                                              | one was not known to fire   | declared, related      |
 * | a person closed it                                              | one fires without a start   | declared, related      |
 * | a person closed it                                              | one began after that        | declared, related      |
 * | a person closed it, `remind_after` ago                          | one fires                   | declared, related      |
 * | a person closed it                                              | those that fire did before  | closed by a person     |
 */
function placeOf({ group, changes }: GroupChange, { groups, incidents, originals }: Known, heard: Heard): Place {
  const digests = new Set([group.digest, ...changes.flatMap(({ before }) => before?.group ?? [])]);
  const incidentsOfGroups = [...digests].flatMap((digest) => incidents.get(groups.get(digest)?.incidentId ?? 0) ?? []);
  const all = [
    ...incidentsOfGroups,
    ...incidentsOfGroups.flatMap(({ id }) => incidents.get(originals.get(id) ?? 0) ?? []),
  ];
  const open = all.find((each) => isOpen(each, heard));
  if (open !== undefined) return { as: 'standing', to: open.id };
  const [closed] = incidentsOfGroups;
  const firing = changes.filter(isFiring);
  if (firing.length === 0) return { as: 'standing', to: closed?.id ?? null };
  const { now, options } = heard;
  if (closed === undefined) return { as: 'declared', to: null };
  if (isEndOfAlerts(closed)) {
    const isRecent = now <= after(closed.statusChangedAt ?? closed.createdAt, options.reopenWithin);
    return isRecent && isResolvedByAlerts(closed, heard)
      ? { as: 'reopened', to: closed.id }
      : { as: 'declared', to: null };
  }
  const closedAt = closingOf(closed, heard);
  const remindAt = after(closedAt, options.remindAfter);
  const isNews = firing.some(
    ({ alert, before }) =>
      before?.isFiring !== true || (!alert.isAcknowledged && (alert.firing === null || alert.firing > closedAt)),
  );
  return isNews || now >= remindAt
    ? { as: 'declared', to: null, related: closed }
    : { as: 'closed_by_person', to: closed.id, remindAt };
}

const after = (time: Instant, milliseconds: number) => new Date(Date.parse(time) + milliseconds).toISOString();

/** Whether the end of its alerts gave an incident its status. */
const isEndOfAlerts = ({ archivedAt, alerts, statusChangedAt }: KnownIncident) =>
  archivedAt === null && alerts.resolvedRevision !== null && alerts.endedAt === statusChangedAt;
/** Whether the end of its alerts has resolved an incident, and nobody has changed it since. */
const isResolvedByAlerts = (incident: KnownIncident, heard: Heard) =>
  isEndOfAlerts(incident) && incident.alerts.resolvedRevision === incident.revision && isTerminal(incident, heard);
/** When a person closed it. */
const closingOf = (incident: KnownIncident, heard: Heard): Instant => {
  const byStatus = isTerminal(incident, heard) && !isEndOfAlerts({ ...incident, archivedAt: null });
  return (byStatus ? incident.statusChangedAt : incident.archivedAt) ?? incident.createdAt;
};

type Groups = Map<string, { digest: string; incident: Ref | null; firing: number }>;

/** Returns the groups as they are known then, with how many of their alerts fire. */
function groupsAfter(placed: readonly Placed[], members: ReadonlyMap<string, Member>, stored: Known): Groups {
  const kept: Groups = new Map();
  for (const { digest, firing, incidentId: incident } of stored.groups.values())
    kept.set(digest, { digest, firing, incident });
  for (const { group, place } of placed)
    kept.set(group.digest, { digest: group.digest, firing: kept.get(group.digest)?.firing ?? 0, incident: place.to });
  const count = (member: Member | undefined, by: number) => {
    const group = member?.isFiring === true ? kept.get(member.group) : undefined;
    if (group !== undefined) group.firing += by;
  };
  for (const [key, member] of members) {
    count(stored.members.get(key), -1);
    count(member, 1);
  }
  return kept;
}

/** By how many alerts that fire each incident has more then. */
function gainsOf(kept: Groups, { groups }: Known): Map<Ref, number> {
  const gains = new Map<Ref, number>();
  const add = (ref: Ref | null, by: number) => void (ref !== null && gains.set(ref, (gains.get(ref) ?? 0) + by));
  for (const { incidentId, firing } of groups.values()) add(incidentId, -firing);
  for (const { incident, firing } of kept.values()) add(incident, firing);
  return gains;
}

/** Finds the alerts that fired for another incident than that of their group now, by that incident. */
function leftOf(placed: readonly Placed[], { groups }: Known): Map<Ref, AlertChange[]> {
  const left = new Map<Ref, AlertChange[]>();
  for (const { changes, place } of placed)
    for (const change of changes) {
      const from = incidentOf(change.before, groups);
      if (from === null || from === place.to) continue;
      const changesFrom = left.get(from) ?? [];
      left.set(from, changesFrom);
      changesFrom.push(change);
    }
  return left;
}

function answerOf({ place, group, changes, over }: Placed, { incidents }: Known, full: ReadonlySet<Ref>): Answer {
  const { as, to, remindAt } = place;
  const outcomes = new Set(changes.map(({ outcome }) => outcome));
  const hasEnded = over > 0 || outcomes.has('ended');
  const isAdded = outcomes.has('started') || outcomes.has('raised') || outcomes.has('acknowledged');
  const outcome = as !== 'standing' ? as : isAdded ? 'added' : hasEnded ? 'ended' : 'unchanged';
  const isNoted = (isAdded || hasEnded) && to !== null;
  const isArchived = isNoted && (incidents.get(to)?.archivedAt ?? null) !== null;
  const reason = to === null ? 'not_firing' : isArchived ? 'archived' : isNoted && full.has(to) ? 'full' : undefined;
  return {
    ...{ group, changes, over, outcome, incident: to },
    ...(reason !== undefined && { reason }),
    ...(remindAt !== undefined && { remindAt }),
  };
}
