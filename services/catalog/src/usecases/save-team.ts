import { outbox } from '@tocsin/messaging';
import type { Knex } from '@tocsin/runtime';
import { teamSnapshot } from '../domain/snapshots.ts';
import type { Team } from '../domain/team.ts';
import { teamStore } from '../store/team-store.ts';
import { type Caller, eventWorkspaceOf } from './context.ts';

/** A team as a transaction has changed it. */
export interface ChangedTeam {
  trx: Knex.Transaction;
  caller: Caller;
  team: Team;
  version: number;
}

/** Saves a changed team together with its event. */
export async function saveTeam(changed: ChangedTeam): Promise<void> {
  const { trx, team, version } = changed;
  await teamStore(trx, team.workspaceId).update(team, version);
  await announceTeam(changed);
}

/** The event of a team that the transaction has written. */
export async function announceTeam({ trx, caller, team, version }: ChangedTeam): Promise<void> {
  await outbox(trx).add({
    type: 'team.changed',
    occurredAt: team.updatedAt,
    workspace: eventWorkspaceOf(caller),
    requestId: caller.requestId,
    data: { version, team: teamSnapshot(team) },
  });
}
