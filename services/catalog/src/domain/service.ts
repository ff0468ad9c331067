import type { ServiceSnapshot } from '@tocsin/schemas';
import type { SlugRule, StoredResource } from '@tocsin/versioned-resources';

/** The properties that a client sets in a create or a PATCH. Null means that there is no value. */
export interface ServiceProperties {
  name: string;
  description: string | null;
  ownerTeamId: number | null;
  tier: string;
  tags: readonly string[];
  externalId: string | null;
  runbookUrl: string | null;
  observabilityNames: readonly string[];
}

/** The team that owns a service; it may be archived. */
export interface OwnerTeam {
  id: number;
  name: string;
  slug: string;
}

/** A stored service with its owner (contract: Catalog). */
export interface Service extends ServiceProperties, StoredResource {
  name: string;
  externalId: string | null;
  owner: OwnerTeam | null;
}

/** A service that has no ID yet. */
export type NewService = Omit<Service, 'id'>;

/** Lower-case letters of any script, letters of scripts without case, their combining marks, and digits. */
export const SERVICE_SLUG: SlugRule = {
  pattern: /^[\p{Ll}\p{Lo}\p{Lm}][\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Nd}_]*$/u,
  firstCharacter: /[\p{Ll}\p{Lo}\p{Lm}]/u,
  separators: /[^\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Nd}]+/gu,
  normalization: 'NFC',
};

/** The form of a service in events and replicas (contract: Events on the broker). */
export function serviceSnapshot(service: Service): ServiceSnapshot {
  return {
    id: service.id,
    revision: service.revision,
    name: service.name,
    slug: service.slug,
    tier: service.tier,
    owner_team_id: service.ownerTeamId,
    ...(service.observabilityNames.length > 0 && { observability_names: [...service.observabilityNames] }),
    archived_at: service.archivedAt,
  };
}
