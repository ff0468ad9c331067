import type { Instant } from '@tocsin/runtime';
import type { RecordedKey } from '@tocsin/schemas';
import type { Change } from '../../incidents/domain/changes.ts';
import type { TimelineEvent } from '../../timeline/domain/timeline-event.ts';

/** The entries of a post-mortem (contract: Post-mortems), and the bytes of their texts and values as JSON. */
export const MAX_ENTRIES = 1_000;
export const MAX_BYTES = 1_048_576;
/** Entries of one end. */
export const HALF = MAX_ENTRIES / 2;

/** A timeline event, or the changes of one revision. */
export type Entry = { at: Instant; id: number } & (
  | { kind: 'timeline_event'; event: TimelineEvent }
  | { kind: 'change'; actor: string; key: RecordedKey | null; changes: readonly Change[] }
);

/** Where an entry stands among the others. */
export type Position = Pick<Entry, 'kind' | 'at' | 'id'>;

/** By time; at the same time changes come first: an event about a change is written with it. */
const byTime = (a: Position, b: Position) =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : a.kind === b.kind ? a.id - b.id : a.kind === 'change' ? -1 : 1;

/** Orders rows, of which some may occur twice. Of more than `MAX_ENTRIES`, those in the middle are left out. */
export function orderEntries<Row extends Position>(rows: readonly Row[]): Row[] {
  const ordered = [...new Map(rows.map((row) => [`${row.kind} ${row.id}`, row])).values()].sort(byTime);
  return ordered.length <= MAX_ENTRIES ? ordered : [...ordered.slice(0, HALF), ...ordered.slice(-HALF)];
}

const bytesOf = (entry: Entry): number => Buffer.byteLength(JSON.stringify(entry));

/**
 * Reads entries from both ends towards the middle, always of the end that has fewer bytes, until they have `MAX_BYTES`.
 * @param forward reads the entries one after the other, `backward` from the last one on
 */
export async function takeFromBothEnds(
  count: number,
  { forward, backward }: Record<'forward' | 'backward', AsyncIterator<Entry>>,
): Promise<{ head: Entry[]; tail: Entry[] }> {
  const [head, tail] = [[] as Entry[], [] as Entry[]];
  const bytes = { head: 0, tail: 0 };
  while (head.length + tail.length < count) {
    const isHead = head.length < HALF && (bytes.head <= bytes.tail || tail.length === HALF);
    const { value } = (await (isHead ? forward : backward).next()) as { value: Entry };
    bytes[isHead ? 'head' : 'tail'] += bytesOf(value);
    if (bytes.head + bytes.tail > MAX_BYTES) break;
    (isHead ? head : tail).push(value);
  }
  return { head, tail: tail.reverse() };
}
