/** What tells one physical database from another one, and from the state that it had before a recovery. */
export interface Fingerprint {
  /** The identifier of the cluster; null if the role may not read it. */
  system: string | null;
  /** The timeline of the write-ahead log: a recovery and a promotion begin another one. Null if it cannot be read. */
  timeline: string | null;
  /** OIDs of the database and of the feed's table: a restored dump has others. */
  database: number;
  table: number;
}

/** Whether two fingerprints are of the same database. What one of them lacks is not compared. */
export const isSameDatabase = (one: Fingerprint, other: Fingerprint): boolean =>
  agrees(one.system, other.system) &&
  agrees(one.timeline, other.timeline) &&
  one.database === other.database &&
  one.table === other.table;

const agrees = (one: string | null, other: string | null) => one === null || other === null || one === other;

/** Whether the second one has all that the first one has. */
export const isAsComplete = (one: Fingerprint, other: Fingerprint): boolean =>
  (one.system === null || other.system !== null) && (one.timeline === null || other.timeline !== null);
