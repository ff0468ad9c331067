import type { ExportedResources } from '@tocsin/contracts';
import type { Knex } from '@tocsin/postgres';
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
  const page = { limit: PAGE + 1, after };
  if (kind === 'service') {
    const services = await serviceStore(database, workspaceId).listBySlug(page);
    return { resources: services.slice(0, PAGE).map(serviceLine), next: nextOf(services) };
  }
  const store = teamStore(database, workspaceId);
  const teams = kind === 'team' ? await store.listBySlug(page) : [];
  const parents = await store.listByIds(teams.flatMap(({ parentTeamId }) => parentTeamId ?? []));
  const slugs = new Map(parents.map(({ id, slug }) => [id, slug]));
  return { resources: teams.slice(0, PAGE).map((team) => teamLine(team, slugs)), next: nextOf(teams) };
}

/** The slug of the last row of the page, if there are others. */
const nextOf = (rows: readonly { slug: string }[]) => (rows.length > PAGE ? (rows[PAGE - 1]?.slug ?? null) : null);

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
  observability_names: service.observabilityNames,
  archived: service.archivedAt !== null,
});
