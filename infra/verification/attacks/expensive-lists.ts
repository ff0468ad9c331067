import type { AttackContext } from './attack.ts';
import type { Workspace } from '../systems/workspaces.ts';
import { copyValues, create, createIncident } from './hostile-data.ts';
import { copyIncident } from '../statements/copy-rows.ts';

type Parameter = [name: string, value: string];

/** The sorts that do not follow the order of creation. */
const SORTS = 'last_event_at severity service diagnosis case regions team impact status owner events'.split(' ');

const repeat = (name: string, values: readonly (string | number)[]): Parameter[] =>
  values.map((value) => [name, String(value)]);
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Fills a workspace, and returns the paths of its lists with the most expensive queries that are allowed. */
export async function expensiveLists(context: AttackContext, workspace: Workspace): Promise<string[]> {
  const { incidentId, teamId } = await fillWorkspace(context, workspace);
  const filters: Parameter[] = [
    ['limit', '100'],
    ['include_counts', 'true'],
    ['active_only', 'true'],
    ['unassigned_team', 'true'],
    ['created_from', '2000-01-01T00:00:00Z'],
    ['created_to', '2100-01-01T00:00:00Z'],
    ...repeat('status', ['open', 'active', 'on-hold', 'monitoring']),
    ...repeat('severity', ['sev1', 'sev2', 'sev3', 'sev4']),
    ...repeat('lifecycle', ['ticket', 'incident', 'postmortem', 'alert']),
    ...repeat('service_tier', ['t0', 't1', 't2', 't3']),
    ...repeat('impact_status', ['unknown', 'none', 'confirmed']),
    ...repeat('diagnosis', ['not_run', 'in_progress', 'completed', 'needs_attention', 'unavailable']),
    ...repeat('effective_team_id', [teamId, ...numbers(99).map((index) => teamId + 1_000 + index)]),
    ...repeat('region', [...numbers(99).map((index) => `Region ${index} ${'é'.repeat(50)}`), 'eu-west']),
    ...repeat('service', [...numbers(99).map((index) => `service_${index}`), 'checkout']),
  ];
  const custom = customFilters().map((filter): Parameter => ['custom_filter', JSON.stringify(filter)]);
  const revenue: Parameter[] = [
    ['affected_customers_op', '>'],
    ['affected_customers_value', '0'],
    ['mrr_op', '>'],
    ['mrr_value', '0'],
  ];
  const list = (path: string, ...queries: Parameter[][]) =>
    `/api/v1/${path}?${new URLSearchParams(queries.flat()).toString()}`;
  return [
    ...SORTS.map((sort) => list('incidents', filters, [['sort', sort]])),
    list('incidents', filters, custom, [
      ['sort', 'custom'],
      ['sort_custom_field', 'customer'],
      ['direction', 'asc'],
    ]),
    list('incidents', custom, [['include_counts', 'true']]),
    list('incidents', filters, revenue),
    list('incidents/archived', filters, custom),
    list(`incidents/${incidentId}/timeline`, [
      ['limit', '100'],
      ['q', 'x'.repeat(200)],
      ['type_or_source', 'ai'],
      ['group', 'ungrouped'],
      ...repeat(
        'tag',
        numbers(50).map((index) => `tag ${index}`),
      ),
    ]),
    list(`incidents/${incidentId}/changelog`, [['limit', '100']]),
    list('services', [
      ['limit', '100'],
      ['include_archived', 'true'],
    ]),
    list('teams', [
      ['limit', '100'],
      ['include_archived', 'true'],
    ]),
    list(`teams/${teamId}/members`, [['limit', '100']]),
    list('team-memberships', [
      ['limit', '100'],
      ...repeat(
        'user_id',
        numbers(100).map((index) => index + 1),
      ),
    ]),
    list('custom-fields', [
      ['limit', '100'],
      ['include_archived', 'true'],
    ]),
    '/api/v1/settings/webhooks',
  ];
}

/** 32 filters that every incident meets. */
function customFilters(): object[] {
  const several = (count: number, filter: (index: number) => object) => numbers(count).map(filter);
  return [
    ...several(14, (index) => ({
      slug: 'customer',
      operator: 'contains',
      value: 'Customer'.slice(0, 1 + (index % 8)),
    })),
    ...several(6, (index) => ({ slug: 'customer', operator: 'is_not', value: [`Nobody ${index}`] })),
    ...several(6, (index) => ({ slug: 'score', operator: 'between', value: [index - 10, 1_000 + index] })),
    ...several(6, (index) => ({ slug: 'places', operator: 'excludes', value: [`place ${index}`] })),
  ];
}

async function fillWorkspace(context: AttackContext, workspace: Workspace) {
  const team = await create(context, workspace, { path: 'teams', body: { name: 'Payments' } });
  await create(context, workspace, { path: 'services', body: { name: 'Checkout', owner_team_id: team.id } });
  const field = async (name: string, field_type: string, config?: object) =>
    create(context, workspace, { path: 'custom-fields', body: { name, field_type, ...(config && { config }) } });
  const values = [
    { field_id: (await field('Customer', 'string')).id, value: 'Customer of the largest kind' },
    { field_id: (await field('Score', 'number')).id, value: 500 },
    { field_id: (await field('Places', 'multi_select', { allow_custom: true })).id, value: ['Paris', 'Rome'] },
  ];
  const { id } = await createIncident(context, workspace, {
    service: 'checkout',
    regions: ['eu-west', 'us-east'],
    custom_field_values: values,
  });
  await create(context, workspace, { path: `incidents/${id}/timeline`, body: { body: 'The event', tags: ['tag 1'] } });
  await copyIncident(context.sql, workspace.id, { id, count: context.choose(10_000, 1_000) });
  await copyValues(context, workspace, id);
  await context.sql.query('analyze incident.incidents, incident.incident_values');
  return { incidentId: id, teamId: team.id };
}
