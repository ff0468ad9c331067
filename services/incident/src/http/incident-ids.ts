/** Returns the IDs of incidents that a response names: in objects `incident`, and in properties `incident_id`. */
export function incidentIdsIn(value: unknown): number[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (name === 'incident_id') return typeof member === 'number' ? [member] : [];
    const id = name === 'incident' ? (member as { id?: unknown } | null)?.id : undefined;
    return [...(typeof id === 'number' ? [id] : []), ...incidentIdsIn(member)];
  });
}
