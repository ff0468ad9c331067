import { normaliseList } from '@tocsin/http';
import { definedProperties } from '@tocsin/resources';
import type { ServiceProperties } from '../domain/service.ts';
import type { TeamProperties } from '../domain/team.ts';

/** The properties of a service in a validated request, with their wire names. */
export interface WireService {
  name?: string | undefined;
  description?: string | null | undefined;
  owner_team_id?: number | null | undefined;
  tier?: string | undefined;
  tags?: readonly string[] | undefined;
  external_id?: string | null | undefined;
  observability_names?: readonly string[] | undefined;
}

/** The properties of a team in a validated request, with their wire names. */
export interface WireTeam {
  name?: string | undefined;
  description?: string | null | undefined;
  parent_team_id?: number | null | undefined;
  external_id?: string | null | undefined;
}

/** Returns the properties that a request contains, in the form in which they are stored. */
export function serviceProperties(wire: WireService): Partial<ServiceProperties> {
  return definedProperties<ServiceProperties>({
    name: wire.name?.trim(),
    description: wire.description,
    ownerTeamId: wire.owner_team_id,
    tier: wire.tier,
    tags: wire.tags && normaliseList(wire.tags),
    externalId: wire.external_id?.trim() ?? wire.external_id,
    observabilityNames: wire.observability_names && normaliseList(wire.observability_names),
  });
}

/** Returns the properties that a request contains, in the form in which they are stored. */
export function teamProperties(wire: WireTeam): Partial<TeamProperties> {
  return definedProperties<TeamProperties>({
    name: wire.name?.trim(),
    description: wire.description,
    parentTeamId: wire.parent_team_id,
    externalId: wire.external_id?.trim() ?? wire.external_id,
  });
}
