import { wrongState } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { choose, LIFECYCLE_STATUSES, type WorkflowStatus } from './configuration.ts';
import type { Incident } from './incident.ts';

/** What a lifecycle operation works with: the workspace's statuses, and the time. */
export interface Moment {
  statuses: readonly WorkflowStatus[];
  now: Instant;
}

/** An operation on an active incident: what it changes, which may be what is there already. */
export type Transition = (incident: Incident, moment: Moment) => Partial<Incident>;

/** Any status becomes `resolved`, and the incident a postmortem (contract: Lifecycle). */
export const resolve: Transition = (incident, moment) => ({
  ...statusChange(incident, LIFECYCLE_STATUSES.resolve, moment),
  issueType: 'postmortem',
});

/** Any status becomes `closed`; what kind of issue it is stays. */
export const close: Transition = (incident, moment) => statusChange(incident, LIFECYCLE_STATUSES.close, moment);

/** @throws DomainError `invalid_resource_state` from any status but `resolved` and `closed` */
export const reopen: Transition = (incident, moment) => {
  const { status } = incident;
  if (status !== LIFECYCLE_STATUSES.resolve && status !== LIFECYCLE_STATUSES.close) {
    throw wrongState('Only a resolved or closed incident can be reopened');
  }
  return {
    ...statusChange(incident, LIFECYCLE_STATUSES.reopen, moment),
    ...(status === LIFECYCLE_STATUSES.resolve && { issueType: 'incident' as const }),
  };
};

/** @throws DomainError `invalid_resource_state` for one that is archived already */
export function archive(incident: Incident, by: number, now: Instant): Partial<Incident> {
  checkWritable(incident);
  return { archivedAt: now, archivedBy: by };
}

/** @throws DomainError `invalid_resource_state` for one that is not archived */
export function restore(incident: Incident): Partial<Incident> {
  if (incident.archivedAt === null) throw wrongState('The incident is not archived');
  return { archivedAt: null, archivedBy: null };
}

/** @throws DomainError `invalid_resource_state` for an archived incident, of which nothing can be written */
export function checkWritable(incident: Incident): void {
  if (incident.archivedAt !== null) throw wrongState('The incident is archived');
}

/**
 * A change of status and what follows from it: when it changed, and when the incident ended, which is its last change into
 * a terminal status for as long as it stays in one.
 * @throws DomainError `invalid_request` for a status that the workspace does not have
 */
export function statusChange(
  incident: Incident,
  key: string,
  { statuses, now }: Moment,
): Partial<Pick<Incident, 'status' | 'statusChangedAt' | 'endedAt'>> {
  const { isTerminal } = choose(statuses, key, 'status');
  if (incident.status === key) return {};
  return { status: key, statusChangedAt: now, endedAt: isTerminal ? now : null };
}
