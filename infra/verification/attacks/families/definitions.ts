import type { Attack, AttackContext } from '../attack.ts';
import type { Outcome } from '../../systems/send.ts';
import type { Workspace } from '../../systems/workspaces.ts';
import { beginFlood, flood, LEGAL_RATE } from '../flood.ts';
import { create, createIncident, postIncident } from '../hostile-data.ts';
import { copyRow } from '../../statements/copy-rows.ts';

/** The tables of resources that other services copy: the owner's schema, table, and what differs between copies. */
const OWNERS = {
  field: { schema: 'custom_field', table: 'definitions', path: 'custom-fields' },
  team: { schema: 'catalog', table: 'teams', path: 'teams' },
} as const;

/** Resources of one service that another service copies, too large or too many. */
export const definitionAttacks: readonly Attack[] = [
  {
    name: 'large-definitions',
    what: '40 field definitions of 900 KiB (by SQL), while another workspace makes a new field required',
    expects: [200, 201, 400, 503],
    run: async (context, workspace) => {
      const witness = await context.createWorkspace();
      const body = { name: 'Option', field_type: 'select', config: { options: ['a'] } };
      const field = await create(context, workspace, { path: 'custom-fields', body });
      // One option of 900 KiB.
      const config = `jsonb_build_object('options', jsonb_build_array(repeat('o', ${900 * 1_024})))`;
      await multiply(context, workspace, { owner: 'field', id: field.id, count: 40, set: { config } });
      await context.begin();
      const attack = flood(context, { clients: 8, perSecond: LEGAL_RATE / 2 }, async (number) => {
        if (number % 2 === 0) return context.send(workspace, { path: '/api/v1/custom-fields?limit=100' });
        // A refusal, which the owner has to confirm.
        const values = [{ field_id: field.id + 1_000_000, value: 'x' }];
        return postIncident(context, workspace, { title: 'Hostile', custom_field_values: values });
      });
      await Promise.all([attack, witnessFields(context, witness)]);
    },
  },
  {
    name: 'many-teams',
    // Its preparation alone keeps a small machine busy, which other tests share.
    onlyFull: true,
    what: '20,000 teams (by SQL, with a quota that allows them), and lists of incidents by team, 20 at once',
    expects: [200, 503],
    run: async (context, workspace) => {
      await context.sql.query('update gateway.workspaces set quotas = $2 where id = $1', [
        workspace.id,
        JSON.stringify({ teams: 30_000 }),
      ]);
      const team = await create(context, workspace, { path: 'teams', body: { name: 'Team' } });
      for (let index = 0; index < 20; index += 1) await createIncident(context, workspace, { team_id: team.id });
      const name = `'Team ' || copy`;
      const set = { name, sort_name: `lower(${name})` };
      await multiply(context, workspace, { owner: 'team', id: team.id, count: 20_000, set });
      const list = async (number: number) =>
        context.send(workspace, {
          path: `/api/v1/incidents?sort=team&direction=${number % 2 === 0 ? 'asc' : 'desc'}&unassigned_team=true`,
        });
      // The incident service fetches the teams once.
      for (let answer = await list(0); answer.outcome !== 200;) answer = await list(0);
      await beginFlood(context, { clients: 20 }, list);
    },
  },
];

/** Copies a resource as its owner would have changed it `count` times, and then announces a version by a request. */
async function multiply(
  context: AttackContext,
  workspace: Workspace,
  options: { owner: keyof typeof OWNERS; id: number; count: number; set: Record<string, string> },
): Promise<void> {
  const { schema, table, path } = OWNERS[options.owner];
  await copyRow(context.sql, {
    table: `${schema}.${table}`,
    id: options.id,
    count: options.count,
    set: { slug: `original.slug || '_' || copy`, version: 'original.version + copy', ...options.set },
  });
  await context.sql.query(`update ${schema}.workspace_versions set version = version + $2 where workspace_id = $1`, [
    workspace.id,
    options.count,
  ]);
  await context.sql.query(`analyze ${schema}.${table}`);
  const body = options.owner === 'field' ? { name: 'Last', field_type: 'string' } : { name: 'Last' };
  await create(context, workspace, { path, body });
}

/** In a workspace that has nothing to do with the attack, references are checked and new fields apply at once. */
async function witnessFields(context: AttackContext, witness: Workspace): Promise<void> {
  // Without an answer when the attack ends, a slow machine has said nothing of the rule.
  const expectOutcome = (expected: Outcome, { outcome }: { outcome: Outcome }, violation: string) =>
    context.check(outcome === expected, `${violation}: ${outcome}`, { timed: outcome === 'silent' });
  for (let round = 0; round < context.choose(5, 2) && !context.isOver; round += 1) {
    const body = { name: `Round ${round}`, field_type: 'string', show_on_creation: true, required_on_creation: true };
    const path = '/api/v1/custom-fields';
    const added = await context.send(witness, { method: 'POST', path, body, kept: Number.MAX_SAFE_INTEGER });
    expectOutcome(201, added, 'a new field elsewhere is not accepted');
    if (added.outcome !== 201) return;
    const { field } = JSON.parse(added.text) as { field: { id: number } };
    const post = async (values: object[]) =>
      postIncident(context, witness, { title: 'Honest', custom_field_values: values });
    const value = { field_id: field.id, value: 'x' };
    expectOutcome(400, await post([]), 'a new required field is not enforced elsewhere');
    const unknown = { field_id: field.id + 1_000_000, value: 'x' };
    expectOutcome(400, await post([value, unknown]), 'an unknown field is not refused elsewhere');
    expectOutcome(201, await post([value]), 'a correct create elsewhere is not accepted');
    await context.send(witness, { method: 'DELETE', path: `${path}/${field.id}` });
  }
}
