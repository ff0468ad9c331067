import type { CustomFieldDefinition, ServiceSnapshot, TeamSnapshot, UserSnapshot } from '@tocsin/schemas';

// What the owners of replicated data have: each with all that it must have, and `more`.

export const aTeam = (id: number, more: Partial<TeamSnapshot> = {}): TeamSnapshot => ({
  ...{ id, revision: 1, name: `Team ${id}`, slug: `team_${id}`, parent_team_id: null, archived_at: null },
  ...more,
});

export const aService = (id: number, more: Partial<ServiceSnapshot> = {}): ServiceSnapshot => ({
  ...{ id, revision: 1, name: `Service ${id}`, slug: `service_${id}`, tier: 't2', owner_team_id: null },
  archived_at: null,
  ...more,
});

/** A string field by default. */
export const aField = (id: number, more: Partial<CustomFieldDefinition> = {}): CustomFieldDefinition => ({
  ...{ id, revision: 1, name: `Field ${id}`, slug: `field_${id}`, field_type: 'string', sort_order: id },
  ...{ required: false, required_on_creation: false, created_at: '2026-11-20T09:00:00.000Z', archived_at: null },
  ...more,
});

export const aUser = (id: number, name = `User ${id}`): UserSnapshot => ({
  ...{ id, email: `${name.toLowerCase().replace(' ', '_')}@acme.example`, name, active: true },
  ...({ seat: 'responder', role: 'member' } as const),
});
