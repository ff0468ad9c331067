import type { Knex } from '@tocsin/postgres';
import type { Clock } from '@tocsin/runtime';
import type { CommandDependencies } from '../../incidents/run-command.ts';
import { changeRetention } from '../change-retention.ts';
import { announcedBefore, daysOf, deletionTime } from '../domain/retention.ts';
import { countArchivedBefore, findRetention, type StoredRetention } from '../store/retention-store.ts';
import { MAX_ANNOUNCED, type RetentionApi } from './contracts.ts';

export const retentionHandlers = (dependencies: CommandDependencies): RetentionApi => ({
  getRetention: async ({ principal: { workspace } }) =>
    reply(dependencies, workspace.id, await findRetention(dependencies.database, workspace.id)),

  replaceRetention: async ({ body, ...command }) => {
    const stored = await changeRetention(dependencies, { ...command, ...body });
    return reply(dependencies, command.principal.workspace.id, stored);
  },
});

async function reply(
  { database, clock }: { database: Knex; clock: Clock },
  workspaceId: number,
  { revision, retention }: StoredRetention,
) {
  const before = announcedBefore(retention, clock.now());
  const announced =
    before === undefined
      ? { count: 0, first: null }
      : await countArchivedBefore(database, { workspaceId, before, limit: MAX_ANNOUNCED });
  const first = announced.first === null ? undefined : deletionTime(retention, 'archived_incidents', announced.first);
  return {
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
        announced: { count: announced.count, first_at: first ?? null },
      },
    },
    revision,
  };
}
