import type { Instant } from '@tocsin/runtime';
import type { Alert, HeardAlert, HeardGroup } from './alert.ts';
import { type AlertChange, type AlertOutcome, type GroupChange, isFiring } from './firings.ts';
import { type AlertIncident, type Heard, incidentOf, isOpen, type Known, type KnownIncident } from './known.ts';
import { highestOf, isAbove } from './severity.ts';

/** An incident by its ID, or by a negative number if the decision declares it. */
export type Ref = number;

/** What a timeline event says of alerts. */
export type Verb = 'started' | 'raised' | 'acknowledged' | 'ended' | 'moved' | 'quiet';

export interface Note {
  do: 'note';
  verb: Verb;
  alerts: readonly Alert[];
  /** With those that nobody named. */
  count: number;
  /** With `quiet`: when they were heard of last. */
  since?: Instant;
}

/** What is to be done to an incident. */
export type Act =
  | {
      do: 'declare';
      group: HeardGroup;
      /** The alerts that fire. */
      alerts: readonly Alert[];
      /** Key; null: the default one. */
      severity: string | null;
      /** What a person has closed before. */
      related: KnownIncident | null;
    }
  | { do: 'reopen' }
  | { do: 'raise'; severity: string }
  /** It stands for so many groups now, because the minute of the monitor has no room. */
  | { do: 'collect'; groups: number }
  | { do: 'recover'; at: Instant | null }
  | { do: 'resolve' }
  /** What alerts have done to it then. */
  | { do: 'keep'; state: AlertIncident }
  | Note;

/** Where a group belongs. */
export interface Place {
  as: 'standing' | 'declared' | 'reopened' | 'collected' | 'closed_by_person';
  /** Null: nothing of it is known to fire. */
  to: Ref | null;
  /** What a person has closed before another one is declared. */
  related?: KnownIncident;
  remindAt?: Instant;
}

export type Placed = GroupChange & { place: Place };

interface Scene {
  /** The groups that belong to the incident now. */
  placed: readonly Placed[];
  /** Alerts that fired for it, and whose groups belong to others now. */
  left: readonly AlertChange[];
  /** Its alerts that fire then. */
  firing: number;
  /** Groups that the last incident of the minute stands for. */
  collected: number;
  stored: Known;
  heard: Heard;
}

/** Returns what is to be done to an incident, and whether its timeline has no room for all of it. */
export function effectsOn(ref: Ref, scene: Scene): { incident: Ref; acts: Act[]; isFull: boolean } {
  const { placed, firing, collected, stored, heard } = scene;
  const { now, options, severities, eventQuota } = heard;
  const incident = stored.incidents.get(ref);
  const { first, started, raised, acknowledged, ended, over, moved } = changesFor(ref, scene);
  const quiet = quietNoteOf(placed);
  const isArchived = incident !== undefined && incident.archivedAt !== null;
  const wasOpen = incident === undefined || isOpen(incident, heard);
  const hasEnded = ended.length + over.length > 0;
  const isLeft = wasOpen && moved.length > 0 && firing <= 0;
  const notes = [
    noteOf('started', first),
    noteOf('started', started),
    noteOf('raised', raised),
    noteOf('acknowledged', acknowledged),
    noteOf('ended', ended, over.length - quiet.count),
    quiet,
    noteOf('moved', isLeft ? moved : []),
  ].filter(({ count }) => count > 0);
  if (notes.length === 0) return { incident: ref, acts: [], isFull: false };

  const acts: Act[] = [];
  const declared = placed.find(isDeclared);
  const severity = highestOf([...first, ...started, ...raised], severities)?.key ?? null;
  if (declared !== undefined)
    acts.push({
      do: 'declare',
      group: declared.group,
      alerts: first,
      severity,
      related: declared.place.related ?? null,
    });
  const isReopened = !wasOpen && placed.some(({ place }) => place.as === 'reopened' || place.as === 'collected');
  if (isReopened) acts.push({ do: 'reopen' });
  const isUnhandled = incident?.isUnhandledAlert ?? true;
  if (incident !== undefined && isUnhandled && severity !== null && isAbove(severity, incident.severity, severities))
    acts.push({ do: 'raise', severity });
  if (isUnhandled && placed.some(({ place }) => place.as === 'collected'))
    acts.push({ do: 'collect', groups: collected });

  const before = incident?.alerts ?? NOTHING_DONE;
  const ends = [before.lastEnd, ...ended.map((alert) => alert.endedAt ?? now), ...over];
  const state = { ...before, lastEnd: latestOf(ends) };
  const recover = (at: Instant | null) => {
    state.recoveredAt = at;
    acts.push({ do: 'recover', at });
  };
  let recoveredAt = incident?.recoveredAt ?? null;
  if (first.length + started.length > 0) {
    Object.assign(state, { endedAt: null, resolvedRevision: null });
    // What an earlier end has said is no longer true.
    if (recoveredAt !== null && recoveredAt === before.recoveredAt) recover((recoveredAt = null));
    state.recoveredAt = null;
  }
  const mayFire = firing > 0 || placed.some(({ group }) => group.isCut === true);
  if (!mayFire && (hasEnded || isLeft)) {
    state.endedAt = now;
    if (hasEnded && recoveredAt === null && state.lastEnd !== null && !isArchived)
      recover(state.lastEnd < (incident?.impactStartedAt ?? '') ? now : state.lastEnd);
    if (options.onEnd === 'resolve' && isUnhandled && (wasOpen || isReopened)) acts.push({ do: 'resolve' });
  }
  const kept: Act = { do: 'keep', state };
  if (isArchived) return { incident: ref, acts: [kept], isFull: false };
  const room = eventQuota === null ? notes.length : Math.max(0, eventQuota - (incident?.eventCount ?? 0));
  return { incident: ref, acts: [...acts, ...notes.slice(0, room), kept], isFull: room < notes.length };
}

const NOTHING_DONE: AlertIncident = { endedAt: null, recoveredAt: null, resolvedRevision: null, lastEnd: null };

const noteOf = (verb: Verb, alerts: readonly Alert[], more = 0): Note => ({
  ...{ do: 'note', verb, alerts },
  count: alerts.length + more,
});
/** About the alerts of groups of which nothing was heard. */
function quietNoteOf(placed: readonly Placed[]): Note {
  const quiet = placed.filter(({ group }) => group.quietSince !== undefined);
  const count = quiet.reduce((sum, { over }) => sum + over, 0);
  const since = quiet.map(({ group }) => group.quietSince ?? '').sort()[0];
  return { ...noteOf('quiet', [], count), ...(since !== undefined && { since }) };
}

const isDeclared = ({ place }: Placed) => place.as === 'declared';
const latestOf = (times: readonly (Instant | null)[]) =>
  times
    .flatMap((time) => time ?? [])
    .sort()
    .at(-1) ?? null;

const once = (alerts: readonly HeardAlert[]) => [...new Map(alerts.map((alert) => [alert.key, alert])).values()];

/** Sorts what is new of the alerts of an incident. */
function changesFor(ref: Ref, { placed, left, stored, heard }: Scene) {
  const that = (outcome: AlertOutcome, changes: readonly AlertChange[]) =>
    changes.flatMap((change) => (change.outcome === outcome ? change.alert : []));
  // In an incident that was not there, or not open, all begins that fires; otherwise what was not known to fire.
  const beginning = (groups: readonly Placed[]) =>
    groups.flatMap(({ changes, place: { as } }) =>
      as === 'standing' || as === 'closed_by_person'
        ? that('started', changes)
        : changes.flatMap((change) => (isFiring(change) ? change.alert : [])),
    );
  const first = once(beginning(placed.filter(isDeclared)));
  const started = once(beginning(placed.filter((each) => !isDeclared(each))));
  const begun = new Set([...first, ...started]);
  const all = placed.flatMap(({ changes }) => changes);
  const stayed = all.filter((change) => [null, ref].includes(incidentOf(change.before, stored.groups)));
  return {
    first,
    started,
    raised: that('raised', all).filter((alert) => !begun.has(alert)),
    acknowledged: that('acknowledged', all),
    ended: that('ended', [...stayed, ...left]),
    /** When those ended that nobody named. */
    over: placed.flatMap(({ over, overAt }) => Array.from({ length: over }, () => overAt ?? heard.now)),
    moved: left.flatMap(({ alert, after }) => (after.isFiring ? alert : [])),
  };
}
