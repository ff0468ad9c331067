/** Places that keys share: each may hold as many as are free, so that there are always some for others. */
export function createPlaces(count: number) {
  const held = new Map<number, number>();
  let free = count;
  return {
    /** Returns what gives the place back; undefined: there is none for this key. */
    take(key: number): (() => void) | undefined {
      const places = held.get(key) ?? 0;
      if (places >= free) return undefined;
      held.set(key, places + 1);
      free -= 1;
      return () => {
        const left = (held.get(key) ?? 0) - 1;
        if (left > 0) held.set(key, left);
        else held.delete(key);
        free += 1;
      };
    },
  };
}
