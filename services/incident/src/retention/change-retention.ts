/**
 * `retention` deletes what a workspace keeps no longer than so many days (contract: Retention). A period that is new or
 * shorter applies 30 days after it was set, and none of archived incidents is shorter than that, so every deletion is
 * announced. A task deletes a batch of each kind in each workspace at a time, for the user who set the periods:
 * incidents one by one, as a request deletes them, if they are still archived for so long; entries of the access log and
 * records of alerts by statements; the audit log by a call to the gateway. It can be ended at any moment, and continues
 * an hour later.
 */
import { checkRevision, jsonEqual } from '@tocsin/http';
import { auditEvent, changeBy, insertEvents } from '@tocsin/messaging';
import { pipeline } from '@tocsin/postgres';
import { runCommand, type CommandDependencies } from '../incidents/run-command.ts';
import type { Caller } from '@tocsin/versioned-resources';
import { type Announced, countAnnounced } from './announced.ts';
import { daysOf, type NewRetentionDays, withDays } from './domain/retention.ts';
import { keepRetention, lockRetention, type StoredRetention } from './store/retention-store.ts';

interface ChangeCommand extends Caller {
  expectedRevision: number;
  days: NewRetentionDays;
}

/** Changes how long a workspace keeps what. @throws DomainError `precondition_failed` */
export async function changeRetention(
  dependencies: CommandDependencies,
  command: ChangeCommand,
): Promise<StoredRetention & { announced: Announced }> {
  const { principal, expectedRevision, days } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    reads: async (trx) => lockRetention(trx, workspace.id),
    decides: (before, { now }) => {
      checkRevision(before.revision, expectedRevision);
      const retention = withDays(before.retention, days, now);
      const isSame = jsonEqual(retention, before.retention);
      const stored = isSame ? before : { revision: before.revision + 1, retention };
      const entry = auditEvent(changeBy(command), {
        ...{ action: 'retention.changed', target: { type: 'retention', id: String(workspace.id) } },
        ...{ before: daysOf(before.retention), after: daysOf(retention), now },
      });
      return {
        stores: async (trx) => {
          // Before the commit: after it, nothing may fail.
          const announced = await countAnnounced(trx, { workspaceId: workspace.id, retention, now });
          const change = keepRetention({ ...stored, workspaceId: workspace.id, setBy: principal });
          if (!isSame) await pipeline(trx, [change, insertEvents([entry])]);
          return { ...stored, announced };
        },
      };
    },
  });
}
