import { invalidState } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { selectEntry, LIFECYCLE_STATUSES, type WorkflowStatus } from '../../configuration/domain/configuration.ts';
import type { Incident } from './incident.ts';

/** The input of a lifecycle operation beside the incident. */
export interface TransitionContext {
  statuses: readonly WorkflowStatus[];
  now: Instant;
}

/** A lifecycle operation on an active incident. Returns its changes, which may equal the current values. */
export type Transition = (incident: Incident, context: TransitionContext) => Partial<Incident>;

/** Sets the status `resolved` and the issue type `postmortem` (contract: Lifecycle). */
export const resolve: Transition = (incident, moment) => ({
  ...statusChange(incident, LIFECYCLE_STATUSES.resolve, moment),
  issueType: 'postmortem',
});

/** Sets the status `closed`; keeps the issue type. */
export const close: Transition = (incident, moment) => statusChange(incident, LIFECYCLE_STATUSES.close, moment);

/** @throws DomainError `invalid_resource_state` unless the status is `resolved` or `closed` */
export const reopen: Transition = (incident, moment) => {
  const { status } = incident;
  if (status !== LIFECYCLE_STATUSES.resolve && status !== LIFECYCLE_STATUSES.close) {
    throw invalidState('Only a resolved or closed incident can be reopened');
  }
  return {
    ...statusChange(incident, LIFECYCLE_STATUSES.reopen, moment),
    ...(status === LIFECYCLE_STATUSES.resolve && { issueType: 'incident' as const }),
  };
};

/** @throws DomainError `invalid_resource_state` if the incident is archived already */
export function archive(incident: Incident, by: number, now: Instant): Partial<Incident> {
  checkWritable(incident);
  return { archivedAt: now, archivedBy: by };
}

/** @throws DomainError `invalid_resource_state` if the incident is not archived */
export function restore(incident: Incident): Partial<Incident> {
  if (incident.archivedAt === null) throw invalidState('The incident is not archived');
  return { archivedAt: null, archivedBy: null };
}

/** @throws DomainError `invalid_resource_state` if the incident is archived and so read-only */
export function checkWritable(incident: Incident): void {
  if (incident.archivedAt !== null) throw invalidState('The incident is archived');
}

/**
 * Returns a change of status with the time of the change and the end of the incident, which is set while the status is
 * terminal.
 * @throws DomainError `invalid_request` for a status that the workspace does not have
 */
export function statusChange(
  incident: Incident,
  key: string,
  { statuses, now }: TransitionContext,
): Partial<Pick<Incident, 'status' | 'statusChangedAt' | 'endedAt'>> {
  const { isTerminal } = selectEntry(statuses, key, 'status');
  if (incident.status === key) return {};
  return { status: key, statusChangedAt: now, endedAt: isTerminal ? now : null };
}
