import { fold } from '../domain/fold.ts';
import type { Incident } from '../domain/incident.ts';

/** The columns of `incidents` that hold text as lists compare it. */
export const LIST_COLUMNS = ['service_folded', 'region_folded', 'region_keys'] as const;

export type ListColumn = (typeof LIST_COLUMNS)[number];

/** A region as `region_keys` holds it. */
export const regionKey = (workspaceId: number, folded: string) => `${workspaceId} ${folded}`;

/** What follows, for lists, from the properties that are given. */
export function toListColumns({
  workspaceId,
  service,
  regions,
}: Partial<Incident> & Pick<Incident, 'workspaceId'>): Partial<Record<ListColumn, string | string[] | null>> {
  return {
    ...(service !== undefined && { service_folded: fold(service) || null }),
    ...(regions !== undefined && {
      region_folded: fold(regions[0] ?? '') || null,
      region_keys: regions.map((region) => regionKey(workspaceId, fold(region))),
    }),
  };
}
