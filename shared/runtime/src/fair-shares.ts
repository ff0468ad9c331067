/** A limited amount of something, such as bytes of memory, that workspaces share. */
export interface FairShares {
  /** Whether the holder may have this much more now. */
  fits(holder: number, amount: number): boolean;
  /** Takes the amount if it fits, and returns whether it did. */
  take(holder: number, amount: number): boolean;
  giveBack(holder: number, amount: number): void;
  heldBy(holder: number): number;
}

/**
 * Nobody may hold more than `perHolder`, nor more than what is still free of `total`. By the second rule n greedy
 * holders get 1/(n+1) of the total each, and as much stays free, so that one with few requests is served at once
 * however greedy the others are (the dynamic threshold of switches with shared buffers).
 */
export function fairShares({ total, perHolder }: { total: number; perHolder: number }): FairShares {
  /** Only holders of more than 0. */
  const held = new Map<number, number>();
  let used = 0;
  const fits = (holder: number, amount: number) =>
    (held.get(holder) ?? 0) + amount <= Math.min(perHolder, total - used);
  return {
    fits,
    take: (holder, amount) => {
      if (!fits(holder, amount)) return false;
      used += amount;
      held.set(holder, (held.get(holder) ?? 0) + amount);
      return true;
    },
    giveBack: (holder, amount) => {
      used -= amount;
      const rest = (held.get(holder) ?? 0) - amount;
      if (rest > 0) held.set(holder, rest);
      else held.delete(holder);
    },
    heldBy: (holder) => held.get(holder) ?? 0,
  };
}
