import { normaliseList } from '@tocsin/http';
import type { ServiceProperties } from '../domain/service.ts';
import type { TeamProperties } from '../domain/team.ts';

/** What a request may say of a service, by the names on the wire; validated already. */
export interface WireService {
  name?: string | undefined;
  description?: string | null | undefined;
  owner_team_id?: number | null | undefined;
  tier?: string | undefined;
  tags?: readonly string[] | undefined;
  external_id?: string | null | undefined;
  observability_names?: readonly string[] | undefined;
}

/** What a request may say of a team, by the names on the wire; validated already. */
export interface WireTeam {
  name?: string | undefined;
  description?: string | null | undefined;
  parent_team_id?: number | null | undefined;
}

/** The properties that a request names, in the form that is kept; the others are left out. */
export function serviceProperties(wire: WireService): Partial<ServiceProperties> {
  return named<ServiceProperties>({
    name: wire.name?.trim(),
    description: wire.description,
    ownerTeamId: wire.owner_team_id,
    tier: wire.tier,
    tags: wire.tags && normaliseList(wire.tags),
    externalId: wire.external_id?.trim() ?? wire.external_id,
    observabilityNames: wire.observability_names && normaliseList(wire.observability_names),
  });
}

/** The properties that a request names, in the form that is kept; the others are left out. */
export function teamProperties(wire: WireTeam): Partial<TeamProperties> {
  return named<TeamProperties>({
    name: wire.name?.trim(),
    description: wire.description,
    parentTeamId: wire.parent_team_id,
  });
}

function named<Properties>(all: { [Name in keyof Properties]: Properties[Name] | undefined }): Partial<Properties> {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Partial<Properties>;
}
