import type { Attack } from '../attack.ts';
import { flood } from '../flood.ts';
import { createIncident } from '../hostile-data.ts';
import { copyIncident } from '../../statements/copy-rows.ts';

const status = (key: string, more: object = {}) => ({ key, label: key, ...more });

/** Changes of a configuration, which keep creates of its workspace waiting. */
export const configurationAttacks: readonly Attack[] = [
  {
    name: 'replaced-statuses',
    what: '9,000 incidents (by SQL) that get another status by a new configuration, again and again, with creates',
    expects: [200, 201, 412, 503],
    run: async (context, workspace) => {
      const { id } = await createIncident(context, workspace, { status: 'monitoring' });
      await copyIncident(context.sql, workspace.id, { id, count: context.choose(9_000, 1_000) });
      let revision = 1;
      let [from, to] = ['monitoring', 'on-hold'];
      const replace = async () => {
        const { outcome } = await context.send(workspace, {
          method: 'PUT',
          path: '/api/v1/settings/configuration',
          body: {
            workflow_statuses: [
              status('open', { is_default: true }),
              ...['active', to, 'resolved', 'closed'].map((key) => status(key)),
            ],
            replace: { statuses: { [from]: to } },
          },
          headers: { 'If-Service-Resource-Version': String(revision) },
        });
        if (outcome !== 200) return;
        revision += 1;
        [from, to] = [to, from];
      };
      await context.begin();
      const replacing = async () => {
        while (!context.isOver) {
          await replace();
          await context.pause(200);
        }
      };
      const creating = flood(context, { clients: 8 }, async () =>
        createIncident(context, workspace).catch(() => undefined),
      );
      await Promise.all([replacing(), creating]);
    },
  },
];
