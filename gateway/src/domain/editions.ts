/** One text of a service's description. `id` is the same for the same text. */
export interface Edition {
  readonly id: string;
}

/** When an edition that is not seen any more stops to count; both must hold. Times are in milliseconds. */
export interface EditionRules {
  /** Reads in a row that saw another edition. */
  absentReads: number;
  /** The time since the last read that saw it. */
  absentFor: number;
  /** How many count at the same time. */
  max: number;
}

/**
 * The editions of a service's description that its processes serve at present. Behind one address there may be
 * processes of several releases, and each read sees one of them. So an edition counts until many reads in a row have not
 * seen it. Only reads that saw another valid edition are such reads: an address that fails, or serves what is refused,
 * takes nothing away.
 */
export interface Editions<One extends Edition> {
  /** The newest first: the one that was first seen last. */
  readonly current: readonly One[];
  /** Records that a read saw an edition. Returns false if it does not count: it has to be added. */
  see(id: string, now: number): boolean;
  /** Adds an edition that a read saw. Returns false if too many count already. */
  add(edition: One, now: number): boolean;
}

/** How many editions' places in the order are remembered after they stopped to count. */
const REMEMBERED = 16;

interface Entry<One> {
  edition: One;
  seenAt: number;
  /** Reads in a row that saw another one. */
  absentReads: number;
}

/** @param initial counts from the start, as if a read had seen it */
export function editions<One extends Edition>(initial: One, rules: EditionRules, now: number): Editions<One> {
  const entries = new Map<string, Entry<One>>();
  /** IDs in the order of their first sight. */
  const order: string[] = [];
  let current: readonly One[] = [];

  const place = (id: string) => order.indexOf(id);
  const enter = (edition: One, at: number) => {
    entries.set(edition.id, { edition, seenAt: at, absentReads: 0 });
    if (order.includes(edition.id)) return;
    order.push(edition.id);
    const forgotten = order.length > REMEMBERED ? order.findIndex((id) => !entries.has(id)) : -1;
    if (forgotten !== -1) order.splice(forgotten, 1);
  };
  const sort = () => {
    current = [...entries.values()].map(({ edition }) => edition).sort((a, b) => place(b.id) - place(a.id));
  };
  const recordRead = (seenId: string, at: number) => {
    for (const [id, entry] of entries) {
      if (id === seenId) {
        Object.assign(entry, { seenAt: at, absentReads: 0 });
        continue;
      }
      entry.absentReads += 1;
      if (entry.absentReads >= rules.absentReads && at - entry.seenAt >= rules.absentFor) entries.delete(id);
    }
    sort();
  };

  enter(initial, now);
  sort();
  return {
    get current() {
      return current;
    },
    see: (id, at) => {
      if (!entries.has(id)) return false;
      recordRead(id, at);
      return true;
    },
    add: (edition, at) => {
      // First, since it may make room.
      recordRead(edition.id, at);
      if (entries.size >= rules.max) return false;
      enter(edition, at);
      sort();
      return true;
    },
  };
}
