/**
 * The quotas of a workspace and their defaults; null is unlimited (contract: Quotas). An administrator may set each of them
 * for a workspace.
 */
export const QUOTAS = {
  /** Active teams. */
  teams: 5_000,
  /** Active services. */
  services: 10_000,
  /** Active definitions of custom fields. */
  custom_fields: 500,
  /** Incidents that were ever created. */
  incidents: null,
  /** Events in the timeline of one incident. */
  timeline_events: 20_000,
  /** Mebibytes of texts and values of incidents. */
  storage_mb: 10_240,
  /** Active users. */
  users: 10_000,
  /** API keys that are neither revoked nor expired. */
  api_keys: 100,
} as const satisfies Record<string, number | null>;

/** Bytes of a request that is refused last when a workspace has stored or written too much (contract: Quotas). */
export const SMALL_WRITE = 4_096;

/** More rows than these are not counted when somebody asks how much of a quota is used. */
export const MAX_COUNTED_USE = 100_000;

export type QuotaName = keyof typeof QUOTAS;

/** The quotas that were set for a workspace; the others have their defaults. */
export type Quotas = Readonly<Record<string, number | null>>;

/** Rows of a kind that a workspace may have with the archived ones, as a multiple of the quota of active ones. */
export const ARCHIVED_FACTOR = 4;

/** @returns null for unlimited */
export function quotaOf({ quotas }: { quotas?: Quotas | undefined }, name: QuotaName): number | null {
  const quota = quotas?.[name];
  return quota === undefined ? QUOTAS[name] : quota;
}
