import type { Documentation } from '@tocsin/http';
import { params as incidentParams } from '../../incidents/http/examples.ts';
import { newFollowUp } from '../domain/follow-up.ts';
import type { followUpContracts } from './contracts.ts';
import { followUpView } from './handlers.ts';

const title = 'Alert on the size of the connection pool';
const body = { title, due_on: '2026-12-04', owner: '1' };
export const example = followUpView({
  followUp: newFollowUp(
    { id: 1, incidentId: 1, createdBy: '1', createdByKey: { name: 'Firefox on Linux', prefix: 'tcn_8sKq' } },
    { title, dueOn: body.due_on, owner: body.owner },
    '2026-11-20T11:00:00.000Z',
  ),
  ticket: null,
});
const done = { status: 'done' as const, completed_at: '2026-12-02T09:00:00.000Z' };
const params = { id: example.id };
const page = { follow_ups: [example], pagination: { limit: 50, has_more: false } };

/** contract: Follow-ups */
export const followUpOperations: Documentation<typeof followUpContracts> = {
  listFollowUps: {
    description:
      'Returns the follow-ups of all incidents of the workspace, archived incidents included, by due date and ID; those without a due date come last. The values of `status` are alternatives; different filters must all match.',
    reply: page,
  },
  listIncidentFollowUps: {
    description: 'Returns the follow-ups of an incident, by due date and ID; those without a due date come last.',
    params: incidentParams,
    reply: page,
  },
  createFollowUp: {
    description:
      'Adds a follow-up to an incident, whatever its status; only `title` is required. Send an `Idempotency-Key`, so that a repeated request does not add a second one. The revision of the incident stays.',
    params: incidentParams,
    body,
    reply: { follow_up: example },
  },
  getFollowUp: {
    description: 'Returns a follow-up by its ID, also one of an archived incident.',
    params,
    reply: { follow_up: example },
  },
  updateFollowUp: {
    description:
      "Changes the properties that the body contains. `If-Service-Resource-Version` must be the follow-up's current revision. The status `done` sets `completed_at`, and every other one clears it.",
    params,
    revision: 1,
    body: { status: 'done' },
    reply: { follow_up: { ...example, ...done, revision: 2, updated_at: done.completed_at } },
  },
  deleteFollowUp: { description: 'Deletes a follow-up permanently.', params },
};
