import { type Caller, eventOrigin } from '@tocsin/resources';
import type { Service } from '../domain/service.ts';
import { serviceSnapshot, teamSnapshot } from '../domain/snapshots.ts';
import type { Team } from '../domain/team.ts';

/** The event of a service that the caller's command has written with a version. */
export const serviceChanged = (caller: Caller, service: Service, version: number) => ({
  type: 'service.changed' as const,
  occurredAt: service.updatedAt,
  ...eventOrigin(caller),
  data: { version, service: serviceSnapshot(service) },
});

/** The event of a team that the caller's command has written with a version. */
export const teamChanged = (caller: Caller, team: Team, version: number) => ({
  type: 'team.changed' as const,
  occurredAt: team.updatedAt,
  ...eventOrigin(caller),
  data: { version, team: teamSnapshot(team) },
});
