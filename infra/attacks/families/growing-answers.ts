import type { Attack } from '../attack.ts';
import { flood, LEGAL_RATE } from '../flood.ts';
import { copyIncident, createIncident } from '../hostile-data.ts';

/** Answers whose work grew with what the workspace has stored. */
export const growingAnswerAttacks: readonly Attack[] = [
  {
    name: 'unmanaged-references',
    what: 'first pages of services of a workspace with 100,000 services that its catalog does not have (by SQL), 10 at once',
    expects: [200],
    run: async (context) => {
      const workspace = await context.createWorkspace();
      const { id } = await createIncident(context, workspace, { service: 'service' });
      const count = context.choose(100_000, 10_000);
      await copyIncident(context, workspace, { id, count, set: { service: `'service-' || copy` } });
      await context.sql.query(
        `insert into incident.service_references (workspace_id, value, incidents)
         select workspace_id, service, 1 from incident.incidents where workspace_id = $1 on conflict do nothing`,
        [workspace.id],
      );
      await context.begin();
      await flood(context, { clients: 10, total: 1_000, perSecond: LEGAL_RATE }, async () => {
        const { outcome, text } = await context.send(workspace, { path: '/api/v1/services?limit=1', kept: 10_000 });
        if (outcome !== 200) return;
        const { unmanaged_references: references } = JSON.parse(text) as { unmanaged_references: unknown[] };
        context.check(references.length === 100, 'the answer has no references', { timed: true });
      });
    },
  },
];
