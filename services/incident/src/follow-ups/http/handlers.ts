import { fold } from '@tocsin/schemas';
import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT, idempotently } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { definedProperties, readWhole } from '@tocsin/versioned-resources';
import type { CommandDependencies } from '../../incidents/run-command.ts';
import { incidentStore } from '../../incidents/store/incident-store.ts';
import type { FollowUp, FollowUpProperties } from '../domain/follow-up.ts';
import { createFollowUp, deleteFollowUp, updateFollowUp } from '../follow-ups.ts';
import { type FollowUpFilters, type FollowUpPosition, listFollowUps } from '../store/follow-up-list.ts';
import type { TicketedFollowUp } from '../domain/ticket.ts';
import { followUpStore } from '../store/follow-up-store.ts';
import { findTickets } from '../store/ticket-store.ts';
import { type FollowUpApi, followUpContracts } from './contracts.ts';
import type { FollowUpPatch, FollowUpWire } from './wire.ts';

const ALL: FollowUpFilters = { statuses: [], owner: null, incidentId: null, dueBefore: null, text: null };

export function followUpHandlers(dependencies: CommandDependencies & { cursors: Cursors }): FollowUpApi {
  const { database } = dependencies;
  const positions = cursorsOf(dependencies.cursors, { name: 'due_on', keys: ['text', 'integer'] });
  const page = async (
    scope: { workspaceId: number; path: string; filters: FollowUpFilters },
    { limit = DEFAULT_LIMIT, cursor }: { limit?: number | undefined; cursor?: string | undefined },
  ) => {
    const { workspaceId, filters } = scope;
    const [due, id] = cursor === undefined ? [] : positions.decode(cursor, scope);
    const after = due === undefined || id === undefined ? undefined : { due, id };
    const { listed, searchedUntil } = await listFollowUps(database, { workspaceId, filters, after, limit: limit + 1 });
    const tickets = await findTickets(
      database,
      workspaceId,
      listed.map((each) => each.id),
    );
    const cursorOf = (last: FollowUpPosition) => positions.encode([last.due, last.id], scope);
    const { rows, pagination } = await buildPage({
      listed,
      limit,
      whole: () => readWhole<FollowUp>(listed.slice(0, limit), followUpStore(database, workspaceId).readWhole),
      view: (followUp: FollowUp) => followUpView({ followUp, ticket: tickets.get(followUp.id) ?? null }),
      nextCursor: cursorOf,
      continueAt: searchedUntil && cursorOf(searchedUntil),
    });
    return { body: { follow_ups: rows, pagination } };
  };
  return {
    listFollowUps: async ({ principal, query }) => {
      const filters: FollowUpFilters = {
        statuses: [...new Set(query.status)].sort(),
        owner: query.owner ?? null,
        incidentId: query.incident_id ?? null,
        dueBefore: query.due_before ?? null,
        text: fold(query.q ?? '') || null,
        ...(query.service !== undefined && { service: query.service }),
        ...(query.team_id !== undefined && { teamId: query.team_id }),
      };
      const { path } = followUpContracts.listFollowUps;
      return page({ workspaceId: principal.workspace.id, path, filters }, query);
    },

    listIncidentFollowUps: async ({ principal, params: { id }, query }) => {
      const workspaceId = principal.workspace.id;
      await incidentStore(database, workspaceId).getVersion(id);
      const path = followUpContracts.listIncidentFollowUps.path.replace('{id}', String(id));
      return page({ workspaceId, path, filters: { ...ALL, incidentId: id } }, query);
    },

    createFollowUp: async (request) => {
      const { principal, requestId, params, body } = request;
      const responseOf = (created: TicketedFollowUp) => ({
        ...{ status: 201, text: JSON.stringify({ follow_up: followUpView(created) }) },
        revision: created.followUp.revision,
      });
      const properties = { ...toFollowUpProperties(body), title: body.title.trim() };
      const command = { principal, requestId, incidentId: params.id, properties };
      return idempotently(database, request, async (key) =>
        responseOf(await createFollowUp(dependencies, { ...command, outcome: key && { key, responseOf } })),
      );
    },

    getFollowUp: async ({ principal: { workspace }, params: { id } }) =>
      replyOf(await withTicket(database, workspace.id, await followUpStore(database, workspace.id).get(id))),

    updateFollowUp: async ({ principal, requestId, params: { id }, expectedRevision, body }) => {
      const changes = toFollowUpProperties(body);
      const command = { principal, requestId, id, expectedRevision, changes };
      return replyOf(await updateFollowUp(dependencies, command));
    },

    deleteFollowUp: async ({ principal, requestId, params: { id } }) => {
      await deleteFollowUp(dependencies, { principal, requestId, id });
      return {};
    },
  };
}

/** The properties that a validated request gives, as the follow-up stores them. */
export const toFollowUpProperties = (wire: FollowUpPatch): Partial<FollowUpProperties> =>
  definedProperties<FollowUpProperties>({
    title: wire.title?.trim(),
    description: wire.description,
    owner: wire.owner,
    dueOn: wire.due_on,
    status: wire.status,
    externalUrl: wire.external_url,
  });

const withTicket = async (database: Knex, workspaceId: number, followUp: FollowUp): Promise<TicketedFollowUp> => ({
  followUp,
  ticket: (await findTickets(database, workspaceId, [followUp.id])).get(followUp.id) ?? null,
});

export const replyOf = (ticketed: TicketedFollowUp) => ({
  body: { follow_up: followUpView(ticketed) },
  revision: ticketed.followUp.revision,
});

export const followUpView = ({ followUp, ticket }: TicketedFollowUp): FollowUpWire => ({
  id: followUp.id,
  revision: followUp.revision,
  incident_id: followUp.incidentId,
  title: followUp.title,
  description: followUp.description,
  owner: followUp.owner,
  due_on: followUp.dueOn,
  status: followUp.status,
  external_url: followUp.externalUrl,
  created_at: followUp.createdAt,
  created_by: followUp.createdBy,
  created_by_key: followUp.createdByKey,
  completed_at: followUp.completedAt,
  updated_at: followUp.updatedAt,
  ticket: ticket && {
    tracker_id: ticket.trackerId,
    status: ticket.status,
    key: ticket.key,
    url: ticket.url,
    state: ticket.state,
    failure: ticket.failure,
  },
});
