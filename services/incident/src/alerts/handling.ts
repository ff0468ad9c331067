import type { Knex } from '@tocsin/postgres';
import type { Caller } from '@tocsin/resources';
import type { Instant } from '@tocsin/runtime';
import type { Configuration } from '../configuration/domain/configuration.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import type { Attempt } from '../incidents/run-command.ts';
import { lockWithConfiguration } from '../incidents/store/incident-store.ts';
import type { MonitoredService } from '../replicas/store/replica-store.ts';
import type { FieldValue } from '../values/domain/values.ts';
import type { Alert, AlertGroup, AlertOptions, Format, Notification } from './domain/alert.ts';
import type { AlertChange, AlertOutcome, Member } from './domain/firings.ts';
import type { AlertIncident, alertStore, Outcome, StoredGroup } from './store/alert-store.ts';

export interface ReceiveCommand extends Caller {
  format: Format;
  notification: Notification;
  options: AlertOptions;
}

/** What all groups of a notification are handled with. */
export interface Handling {
  trx: Knex.Transaction;
  store: ReturnType<typeof alertStore>;
  command: ReceiveCommand;
  configuration: Configuration;
  values: readonly FieldValue[];
  /** By what the alerts call them. */
  services: ReadonlyMap<string, MonitoredService>;
  storage: Attempt['storage'];
  now: Instant;
  keyName: string;
}

/** A group with what the notification changes of it. */
export interface Plan {
  group: AlertGroup;
  digest: string;
  stored: StoredGroup | undefined;
  known: ReadonlyMap<string, Member>;
  members: ReadonlyMap<string, Member>;
  changes: readonly AlertChange[];
  /** Alerts that end because their group is over. */
  over: number;
  /** By how many the alerts that fire become more. */
  delta: number;
  incidentId: number | null;
  outcome: Outcome;
  reason: string;
}

export const alertsThat = (plans: readonly Plan[], outcome: AlertOutcome): Alert[] =>
  plans.flatMap(({ changes }) => changes.flatMap((change) => (change.outcome === outcome ? change.alert : [])));
export const overOf = (plans: readonly Plan[]) => plans.reduce((sum, { over }) => sum + over, 0);
export const isChanged = ({ changes, over }: Plan) =>
  over > 0 || changes.some(({ outcome }) => outcome !== 'unchanged');
export const starts = ({ changes }: Plan) => changes.some(({ outcome }) => outcome === 'started');

/** An incident that alerts belong to, locked. */
export interface Target {
  incident: Incident;
  /** As it was stored, with how many alerts of it fired. */
  alerts: AlertIncident & { firing: number };
}

export const NEW_TARGET = { endedAt: null, recoveredAt: null, resolvedRevision: null, firing: 0 };

export async function lockTarget({ trx, store, command, configuration }: Handling, id: number): Promise<Target> {
  const workspaceId = command.principal.workspace.id;
  const incident = await lockWithConfiguration(trx, { workspaceId, id, configuration });
  return { incident, alerts: (await store.findIncident(id)) ?? NEW_TARGET };
}

export const isOpenIn = ({ statuses }: Configuration, { archivedAt, status }: Incident) =>
  archivedAt === null && statuses.find(({ key }) => key === status)?.isTerminal !== true;
