/**
 * Gives an ID to each group that has none: that of the group there is by its name, so that the same file can be applied
 * twice, else one that was never seen.
 */
export function identify(
  wanted: readonly { id?: number | undefined; name: string }[],
  existing: readonly { id: number; name: string }[],
): { id: number; name: string }[] {
  const taken = new Set(wanted.flatMap(({ id }) => id ?? []));
  let highest = Math.max(0, ...taken, ...existing.map(({ id }) => id));
  return wanted.map(({ id, name }) => {
    const own = id ?? existing.find((group) => group.name === name && !taken.has(group.id))?.id ?? (highest += 1);
    taken.add(own);
    return { id: own, name };
  });
}
