import { DIAGNOSES } from '../../domain/diagnosis.ts';
import { fold } from '../../domain/fold.ts';
import { ISSUE_TYPES } from '../../domain/incident.ts';
import { regionKey } from '../list-columns.ts';
import { compare } from './compare.ts';
import { mrrCondition } from './mrr-condition.ts';
import type { CatalogService, ListQuestion } from './question.ts';
import { type Sql, sql } from './sql.ts';

/** Which part of what matches is meant: what the list shows, or what the workspace's history limit keeps from it. */
export type Part = 'shown' | 'restricted';

/** What incidents `i` of the list meet, but for the filters by status and by custom fields. */
export function conditions(question: ListQuestion, part: Part): Sql[] {
  const { workspaceId, archived, visibleFrom } = question;
  const { createdFrom, createdTo, createdBefore } = question.filters;
  return [
    sql`i.workspace_id = ${workspaceId}`,
    archived ? sql`i.archived_at is not null` : sql`i.archived_at is null`,
    ...(visibleFrom === null
      ? []
      : [part === 'shown' ? sql`i.created_at >= ${visibleFrom}` : sql`i.created_at < ${visibleFrom}`]),
    ...(createdFrom === null ? [] : [sql`i.created_at >= ${createdFrom}`]),
    ...(createdTo === null ? [] : [sql`i.created_at <= ${createdTo}`]),
    ...(createdBefore === null ? [] : [sql`i.created_at < ${createdBefore}`]),
    ...choices(question),
  ];
}

/** Whether a list leaves incidents out for what they are, and not only for when they were declared. */
export const isSelective = (question: ListQuestion): boolean =>
  question.statuses !== null || question.custom.length > 0 || choices(question).length > 0;

export const statusCondition = ({ statuses }: ListQuestion): Sql[] =>
  statuses === null ? [] : [oneOf(sql`i.status`, statuses)];

function choices({ workspaceId, filters, services, conversions }: ListQuestion): Sql[] {
  const { severities, regions, diagnoses, customerImpacts, affectedCustomers, mrr, serviceTiers } = filters;
  const some = <Value>(values: readonly Value[], condition: () => Sql) => (values.length === 0 ? [] : [condition()]);
  return [
    ...issueTypeConditions(filters),
    ...some(severities, () => sql`i.severity = any(${severities})`),
    ...some(filters.services, () => ofServices(filters.services)),
    ...some(serviceTiers, () => ofServices(slugsOf(services.filter(({ tier }) => serviceTiers.includes(tier))))),
    ...teamConditions(filters, services),
    ...some(regions, () => sql`i.region_keys && ${regions.map((region) => regionKey(workspaceId, region))}`),
    ...some(diagnoses, () => sql`i.diagnosis = any(${diagnoses.map((each) => DIAGNOSES.indexOf(each))})`),
    ...some(customerImpacts, () => sql`i.customer_impact_status = any(${customerImpacts})`),
    ...(affectedCustomers === null ? [] : [compare(sql`i.affected_customers`, affectedCustomers)]),
    ...(mrr === null ? [] : [mrrCondition(mrr, conversions)]),
  ];
}

function issueTypeConditions({ postmortemsOnly, lifecycles }: ListQuestion['filters']): Sql[] {
  if (!postmortemsOnly && lifecycles.length === 0) return [];
  return [
    oneOf(
      sql`i.issue_type`,
      ISSUE_TYPES.filter((type) => lifecycles.length === 0 || lifecycles.includes(type)).filter(
        (type) => !postmortemsOnly || type === 'postmortem',
      ),
    ),
  ];
}

/** Nothing is none of no values: said so, instead of looking through everything for it. */
const oneOf = (what: Sql, values: readonly (string | number)[]): Sql =>
  values.length === 0 ? sql`false` : sql`${what} = any(${values})`;

/** `unassignedTeam` lets incidents without a team of their own in, whatever else is said of teams. */
function teamConditions(
  { teams, effectiveTeams, unassignedTeam }: ListQuestion['filters'],
  services: readonly CatalogService[],
): Sql[] {
  const wanted = [
    ...(teams.length === 0 ? [] : [sql`i.team_id = any(${teams})`]),
    ...(effectiveTeams.length === 0 ? [] : [ofEffectiveTeams(effectiveTeams, services)]),
  ];
  if (!unassignedTeam) return wanted;
  if (wanted.length === 0) return [sql`i.team_id is null`];
  return wanted.map((condition) => sql`(${condition} or i.team_id is null)`);
}

/** A team of the incident's own, or else the one that its service hands on. */
function ofEffectiveTeams(teams: readonly number[], services: readonly CatalogService[]): Sql {
  const owned = services.filter(({ ownerTeamId }) => ownerTeamId !== null && teams.includes(ownerTeamId));
  return sql`(i.team_id = any(${teams}) or (i.team_id is null and ${ofServices(slugsOf(owned))}))`;
}

const slugsOf = (services: readonly CatalogService[]) => services.map(({ slug }) => slug);

/** Exactly these; folded too, which is what there is an index for. */
export const ofServices = (slugs: readonly string[]): Sql =>
  sql`(${oneOf(sql`i.service_folded`, slugs.map(fold))} and ${oneOf(sql`i.service`, slugs)})`;
