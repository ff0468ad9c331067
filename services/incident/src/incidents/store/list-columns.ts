import { fold } from '@tocsin/contracts';
import type { Incident } from '../domain/incident.ts';

/** The columns of `incidents` with folded text, by which lists filter and sort. */
export const LIST_COLUMNS = [
  'title_folded',
  'impact_summary_folded',
  'service_folded',
  'region_folded',
  'region_keys',
] as const;

export type ListColumn = (typeof LIST_COLUMNS)[number];

/** A region as stored in `region_keys`. */
export const regionKey = (workspaceId: number, folded: string) => `${workspaceId} ${folded}`;

/** The columns that change with these properties. An absent property changes none. */
export function toListColumns({
  workspaceId,
  title,
  impactSummary,
  service,
  regions,
}: Partial<Incident> & Pick<Incident, 'workspaceId'>): Partial<Record<ListColumn, string | string[] | null>> {
  return {
    ...(title !== undefined && { title_folded: fold(title) }),
    ...(impactSummary !== undefined && { impact_summary_folded: fold(impactSummary) }),
    ...(service !== undefined && { service_folded: fold(service) || null }),
    ...(regions !== undefined && {
      region_folded: fold(regions[0] ?? '') || null,
      region_keys: regions.map((region) => regionKey(workspaceId, fold(region))),
    }),
  };
}
