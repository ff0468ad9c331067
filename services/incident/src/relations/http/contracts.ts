import { type Contracts, endpoint, type Handlers, pageQuery, pathId } from '@tocsin/http';
import { z } from 'zod';
import { INCIDENT, INCIDENTS, params, read, write } from '../../incidents/http/contracts.ts';
import { newRelation, relationPage, relationReply, similarQuery, similarReply } from './wire.ts';

const RELATIONS = `${INCIDENT}/relations`;

const similar = { tag: 'Incidents', ...read, cost: { base: 5 }, reply: { status: 200, body: similarReply } } as const;

/** contract: Relations */
export const relationContracts = {
  listIncidentRelations: {
    ...endpoint('GET', RELATIONS, 'List the relations of an incident'),
    tag: 'Incidents',
    ...read,
    params,
    query: z.strictObject(pageQuery),
    reply: { status: 200, body: relationPage },
  },
  createIncidentRelation: {
    ...endpoint('POST', RELATIONS, 'Relate an incident to another one'),
    tag: 'Incidents',
    ...write,
    params,
    idempotent: true,
    body: newRelation,
    reply: { status: 201, body: relationReply, assigned: ['relation.id'] },
  },
  deleteIncidentRelation: {
    ...endpoint('DELETE', `${RELATIONS}/{relationId}`, 'Delete a relation of an incident'),
    tag: 'Incidents',
    ...write,
    params: params.extend({ relationId: pathId.meta({ description: 'ID of the relation' }) }),
    reply: { status: 204 },
  },
  findSimilarIncidents: {
    ...endpoint('GET', `${INCIDENTS}/similar`, 'Find incidents that are similar to a title'),
    ...similar,
    query: similarQuery,
  },
  listSimilarIncidents: {
    ...endpoint('GET', `${INCIDENT}/similar`, 'List the incidents that are similar to an incident'),
    ...similar,
    params,
  },
} as const satisfies Contracts;

export type RelationApi = Handlers<typeof relationContracts>;
