import type { CommandDependencies } from '../../incidents/run-command.ts';
import { type Announced, countAnnounced } from '../announced.ts';
import { changeRetention } from '../change-retention.ts';
import { daysOf } from '../domain/retention.ts';
import { findRetention, type StoredRetention } from '../store/retention-store.ts';
import type { RetentionApi } from './contracts.ts';

export const retentionHandlers = (dependencies: CommandDependencies): RetentionApi => ({
  getRetention: async ({ principal: { workspace } }) => {
    const { database, clock } = dependencies;
    const stored = await findRetention(database, workspace.id);
    const of = { workspaceId: workspace.id, retention: stored.retention, now: clock.now() };
    return reply({ ...stored, announced: await countAnnounced(database, of) });
  },

  replaceRetention: async ({ body, ...command }) => reply(await changeRetention(dependencies, { ...command, ...body })),
});

const reply = ({ revision, retention, announced }: StoredRetention & { announced: Announced }) => ({
  body: {
    retention: {
      revision,
      days: daysOf(retention),
      starts_at: {
        archived_incidents: retention.archived_incidents?.startsAt ?? null,
        audit_log: retention.audit_log?.startsAt ?? null,
        access_log: retention.access_log?.startsAt ?? null,
        alert_records: retention.alert_records?.startsAt ?? null,
      },
      announced: { count: announced.count, first_at: announced.firstAt },
    },
  },
  revision,
});
