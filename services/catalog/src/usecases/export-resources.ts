import type { ExportedResources } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { exportedPage } from '@tocsin/versioned-resources';
import type { Service } from '../domain/service.ts';
import type { Team } from '../domain/team.ts';
import { serviceStore } from '../store/service-store.ts';
import { teamStore } from '../store/team-store.ts';

/** Rows of a page. A description has 10,000 characters at most. */
const PAGE = 100;

/** Returns a page of teams or services for an export: what a create takes, with slugs for IDs (contract: Export). */
export async function exportResources(
  database: Knex,
  workspaceId: number,
  { kind, after }: { kind: string; after: string },
): Promise<ExportedResources> {
  const page = { size: PAGE, after };
  if (kind === 'service') {
    return exportedPage(serviceStore(database, workspaceId), page, (services) => services.map(serviceLine));
  }
  if (kind !== 'team') return { resources: [], next: null };
  const store = teamStore(database, workspaceId);
  return exportedPage(store, page, async (teams) => {
    const parents = await store.listByIds(teams.flatMap(({ parentTeamId }) => parentTeamId ?? []));
    const slugs = new Map(parents.map(({ id, slug }) => [id, slug]));
    return teams.map((team) => teamLine(team, slugs));
  });
}

const teamLine = (
  { slug, name, description, parentTeamId, externalId, archivedAt }: Team,
  slugs: ReadonlyMap<number, string>,
) => ({
  slug,
  name,
  description,
  parent_team: parentTeamId === null ? null : slugs.get(parentTeamId),
  external_id: externalId,
  archived: archivedAt !== null,
});

const serviceLine = (service: Service) => ({
  slug: service.slug,
  name: service.name,
  description: service.description,
  owner_team: service.owner?.slug ?? null,
  tier: service.tier,
  tags: service.tags,
  external_id: service.externalId,
  runbook_url: service.runbookUrl,
  observability_names: service.observabilityNames,
  archived: service.archivedAt !== null,
});
