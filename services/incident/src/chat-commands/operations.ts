import { callRoute, type HttpLimits, type Route, type RouteCall, type ViewerOf } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant, Logger } from '@tocsin/runtime';
import type { Principal } from '@tocsin/schemas';
import { z } from 'zod';
import { findNumberOfChannel, hasEventWith } from './store/channel-store.ts';

/** The operations that commands use. */
type OperationId =
  | 'createFollowUp'
  | 'createIncident'
  | 'createTimelineEvent'
  | 'getIncidentByReference'
  | 'resolveIncident'
  | 'updateIncident';

const incidentReply = z.object({
  incident: z.object({
    id: z.int(),
    revision: z.int(),
    human_id: z.string(),
    title: z.string(),
    status: z.string(),
    severity: z.string(),
    incident_manager: z.string(),
  }),
});

/** What commands need of an incident. */
export type CommandedIncident = z.infer<typeof incidentReply>['incident'];

export type Operations = ReturnType<typeof operations>;

/** A read that is not in the API, with the same checks. */
const read = (id: string, handle: () => Promise<unknown>): Route => ({
  ...{ id, method: 'get', path: '', summary: '', tag: '', scope: 'incidents:read', reply: { status: 200 } },
  handle: async () => ({ body: await handle() }),
});

/** Runs operations of this service as users who ask in a chat. */
export function operations(options: {
  database: Knex;
  routes: readonly Route[];
  viewerOf: ViewerOf;
  limits: HttpLimits;
  log: Logger;
}) {
  const { database, routes } = options;
  const byId = new Map(routes.map((route) => [route.id, route]));
  const run = async (id: OperationId, call: RouteCall): Promise<unknown> => {
    const route = byId.get(id);
    if (route === undefined) throw new Error(`there is no operation ${id}`);
    return callRoute(route, call, options);
  };
  return {
    /** @throws DomainError as the operation */
    run,

    /** The same for operations that return an incident. */
    runOnIncident: async (id: OperationId, call: RouteCall): Promise<CommandedIncident> =>
      incidentReply.parse(await run(id, call)).incident,

    /** The number of the incident of a channel; undefined: it has none that the user may see. */
    findNumberOfChannel: async (principal: Principal, channelId: string): Promise<number | undefined> => {
      const workspaceId = principal.workspace.id;
      const find = async () => ({ number: await findNumberOfChannel(database, { workspaceId, channelId }) });
      const reply = await callRoute(read('findIncidentOfChannel', find), { principal }, options);
      return z.object({ number: z.int().optional() }).parse(reply).number;
    },

    /** Whether an event at this moment has the text in its body. */
    hasEventWith: async (
      principal: Principal,
      event: { incidentId: number; at: Instant; text: string },
    ): Promise<boolean> => {
      const workspaceId = principal.workspace.id;
      const find = async () => ({ exists: await hasEventWith(database, { workspaceId, ...event }) });
      const reply = await callRoute(read('findEventWithText', find), { principal }, options);
      return z.object({ exists: z.boolean() }).parse(reply).exists;
    },
  };
}
