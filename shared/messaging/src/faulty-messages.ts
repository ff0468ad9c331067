/**
 * Tells whether the database or a message is at fault when the database gives up a statement or a lock: a table that
 * somebody else has locked looks the same as a message that takes too long. The rule: it is the message if it fails
 * again, alone, after another message of the queue has passed; until then it is the database.
 */
export interface FaultyMessages {
  /** Records that these messages were handled. */
  passed(ids: readonly string[]): void;
  /** Records that a message has failed alone. Returns whether it is at fault. */
  failed(id: string): boolean;
  /** Whether a message was at fault when it last failed. */
  has(id: string): boolean;
}

/** Messages that are remembered; more than a consumer has at a time, since those at fault come again later. */
const REMEMBERED = 1_000;

export function faultyMessages(): FaultyMessages {
  /** How many messages had passed when a message last failed alone, oldest first. */
  const failures = new Map<string, { passed: number; isAtFault: boolean }>();
  let passed = 0;
  return {
    passed: (ids) => {
      passed += ids.length;
      for (const id of ids) failures.delete(id);
    },
    failed: (id) => {
      const before = failures.get(id);
      const isAtFault = before !== undefined && passed > before.passed;
      failures.delete(id);
      failures.set(id, { passed, isAtFault });
      const [oldest] = failures.keys();
      if (failures.size > REMEMBERED && oldest !== undefined) failures.delete(oldest);
      return isAtFault;
    },
    has: (id) => failures.get(id)?.isAtFault === true,
  };
}
