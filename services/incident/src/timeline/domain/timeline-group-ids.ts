/**
 * Assigns IDs to groups without one: the ID of the existing group with the same name, so that applying a file twice changes
 * nothing, else a new ID.
 */
export function assignGroupIds(
  requested: readonly { id?: number | undefined; name: string }[],
  existing: readonly { id: number; name: string }[],
): { id: number; name: string }[] {
  const usedIds = new Set(requested.flatMap(({ id }) => id ?? []));
  let highest = Math.max(0, ...usedIds, ...existing.map(({ id }) => id));
  return requested.map(({ id, name }) => {
    const assigned =
      id ?? existing.find((group) => group.name === name && !usedIds.has(group.id))?.id ?? (highest += 1);
    usedIds.add(assigned);
    return { id: assigned, name };
  });
}
