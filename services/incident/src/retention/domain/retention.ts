import { addMilliseconds, type Instant } from '@tocsin/runtime';

/** What is deleted after some days, in the order of the API. */
export const RETENTION_KINDS = ['archived_incidents', 'audit_log', 'access_log', 'alert_records'] as const;
export type RetentionKind = (typeof RETENTION_KINDS)[number];

/** Days; null: kept for ever. */
export type RetentionDays = Readonly<Record<RetentionKind, number | null>>;

/** Periods to set; the others stay. */
export type NewRetentionDays = Readonly<Partial<Record<RetentionKind, number | null | undefined>>>;

/** How long a workspace keeps what, and from when on a period applies. */
export type Retention = Readonly<Record<RetentionKind, { days: number; startsAt: Instant } | null>>;

export const NO_RETENTION: Retention = {
  archived_incidents: null,
  audit_log: null,
  access_log: null,
  alert_records: null,
};

/** Returns the periods alone. */
export const daysOf = (retention: Retention): RetentionDays => ({
  archived_incidents: retention.archived_incidents?.days ?? null,
  audit_log: retention.audit_log?.days ?? null,
  access_log: retention.access_log?.days ?? null,
  alert_records: retention.alert_records?.days ?? null,
});

const DAY = 24 * 3_600_000;
/** Milliseconds between the announcement of a deletion and the deletion. */
const ANNOUNCED_FOR = 30 * DAY;

/** Returns the retention with new periods. One that is new or shorter applies after it was announced. */
export function withDays(before: Retention, days: NewRetentionDays, now: Instant): Retention {
  const after = { ...before };
  for (const kind of RETENTION_KINDS) {
    const given = days[kind];
    if (given === undefined) continue;
    const period = before[kind];
    const startsAt = period !== null && given !== null && given >= period.days ? period.startsAt : undefined;
    after[kind] = given === null ? null : { days: given, startsAt: startsAt ?? addMilliseconds(now, ANNOUNCED_FOR) };
  }
  return after;
}

/** Returns the time before which things of the kind are deleted now; undefined: none is. */
export function deletedBefore(retention: Retention, kind: RetentionKind, now: Instant): Instant | undefined {
  const period = retention[kind];
  return period === null || period.startsAt > now ? undefined : addMilliseconds(now, -period.days * DAY);
}

/** Returns when something of the kind that is so since a time is deleted; undefined: never. */
export function deletionTime(retention: Retention, kind: RetentionKind, since: Instant): Instant | undefined {
  const period = retention[kind];
  if (period === null) return undefined;
  const due = addMilliseconds(since, period.days * DAY);
  return due > period.startsAt ? due : period.startsAt;
}

/** Returns the time before which archived incidents have been archived that are deleted in the next 30 days. */
export function announcedBefore({ archived_incidents: period }: Retention, now: Instant): Instant | undefined {
  return period === null ? undefined : addMilliseconds(now, ANNOUNCED_FOR - period.days * DAY);
}
