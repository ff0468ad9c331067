import { type Contracts, endpoint, type Handlers, pageQuery, pathId } from '@tocsin/http';
import { z } from 'zod';
import { INCIDENT, params, read, write } from '../../incidents/http/contracts.ts';
import { newRelation, relationPage, relationReply } from './wire.ts';

const RELATIONS = `${INCIDENT}/relations`;

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
} as const satisfies Contracts;

export type RelationApi = Handlers<typeof relationContracts>;
