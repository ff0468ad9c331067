import { normaliseList } from '@tocsin/http';
import type { WireOf } from '@tocsin/resources';
import type { ServiceProperties } from '../domain/service.ts';
import type { TeamProperties } from '../domain/team.ts';
import { SERVICE_COLUMNS, type SERVICE_TABLE } from '../store/service-store.ts';
import { TEAM_COLUMNS, type TEAM_TABLE } from '../store/team-store.ts';

/** The properties of a service in a validated request, with their wire names. */
export type WireService = WireOf<ServiceProperties, typeof SERVICE_TABLE>;

/** The properties of a team in a validated request, with their wire names. */
export type WireTeam = WireOf<TeamProperties, typeof TEAM_TABLE>;

/** Returns the properties that a request contains, in the form in which they are stored. */
export const serviceProperties = (wire: WireService): Partial<ServiceProperties> =>
  SERVICE_COLUMNS.toProperties({
    ...wire,
    ...trimmed(wire),
    tags: wire.tags && normaliseList(wire.tags),
    observability_names: wire.observability_names && normaliseList(wire.observability_names),
  });

/** Returns the properties that a request contains, in the form in which they are stored. */
export const teamProperties = (wire: WireTeam): Partial<TeamProperties> =>
  TEAM_COLUMNS.toProperties({ ...wire, ...trimmed(wire) });

const trimmed = ({ name, external_id }: WireTeam | WireService) => ({
  name: name?.trim(),
  external_id: external_id?.trim() ?? external_id,
});
