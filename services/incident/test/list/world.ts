import type { CustomFieldDefinition, ServiceSnapshot, TeamSnapshot } from '@tocsin/schemas';
import { aField, aService, aTeam } from '../snapshots.ts';

/** The time of the list requests in these tests. */
export const NOW = '2026-11-20T12:00:00.000Z';

/** The names of two differ only in case. One team is archived and keeps its incidents. */
export const TEAMS: readonly TeamSnapshot[] = [
  team(1, 'Payments'),
  team(2, 'ärzte'),
  team(3, 'PAYMENTS'),
  team(4, 'Zuständige'),
  team(5, 'Äther', '2026-11-01T00:00:00.000Z'),
];

function team(id: number, name: string, archivedAt: string | null = null): TeamSnapshot {
  return aTeam(id, { name, archived_at: archivedAt });
}

export const SERVICES: readonly ServiceSnapshot[] = [
  service(1, 'checkout', 't0', 1),
  service(2, 'checkout_api', 't1', 2),
  service(3, 'mail', 't1', 4, '2026-11-01T00:00:00.000Z'),
  service(4, 'ärger', 't2', 3),
  service(5, 'search', 't3', 5),
  service(6, 'idle', 't3', null),
];

function service(
  id: number,
  slug: string,
  tier: string,
  owner: number | null,
  archivedAt: string | null = null,
): ServiceSnapshot {
  return aService(id, { name: slug, slug, tier, owner_team_id: owner, archived_at: archivedAt });
}

const FIELDS = {
  customer: { field_type: 'string' },
  score: { field_type: 'number' },
  flag: { field_type: 'boolean' },
  day: { field_type: 'date' },
  hour: { field_type: 'time' },
  moment: { field_type: 'datetime' },
  cost: { field_type: 'monetary' },
  env: {
    field_type: 'select',
    config: { options: ['production', { value: 'Staging', label: 'Before' }, 'dev'], allow_custom: true },
  },
  places: { field_type: 'multi_select', config: { options: ['west', 'east', 'süd'], allow_custom: true } },
  blob: { field_type: 'json' },
} as const satisfies Record<string, Pick<CustomFieldDefinition, 'field_type'> & { config?: unknown }>;

export type FieldSlug = keyof typeof FIELDS;

export const DEFINITIONS: readonly CustomFieldDefinition[] = Object.entries(FIELDS).map(([slug, field], index) =>
  aField(100 + index, { name: slug, slug, ...(field as Pick<CustomFieldDefinition, 'field_type' | 'config'>) }),
);

/** Statuses other than the default ones: three are terminal, and one has no incidents. */
export const CONFIGURATION = {
  workflow_statuses: [
    { key: 'triage', label: 'Triage' },
    { key: 'open', label: 'Open', is_default: true },
    { key: 'active', label: 'Active' },
    { key: 'unused', label: 'Unused' },
    { key: 'resolved', label: 'Resolved', is_terminal: true },
    { key: 'closed', label: 'Closed', is_terminal: true },
    { key: 'abandoned', label: 'Abandoned', is_terminal: true },
  ],
  severities: [
    { key: 'worst', label: 'Worst', min_score: 80 },
    { key: 'bad', label: 'Bad', min_score: 40, is_default: true },
    { key: 'fair', label: 'Fair', min_score: 0 },
  ],
  exchange_rates: [
    { currency: 'EUR', rate: 1.085, as_of: '2026-11-20T09:00:00Z' },
    { currency: 'JPY', rate: 0.0066, as_of: '2026-11-20T09:00:00Z' },
  ],
};
