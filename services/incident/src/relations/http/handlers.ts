import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT, idempotently } from '@tocsin/http';
import { humanId } from '../../incidents/domain/incident.ts';
import type { CommandDependencies } from '../../incidents/run-command.ts';
import { incidentStore } from '../../incidents/store/incident-store.ts';
import type { Relation } from '../domain/relation.ts';
import { type Related, relateIncidents, unrelateIncidents } from '../relate-incidents.ts';
import { relationStore } from '../store/relation-store.ts';
import { type RelationApi, relationContracts } from './contracts.ts';
import { findSimilar } from '../find-similar.ts';
import type { RelationWire, SimilarIncidentWire } from './wire.ts';

export function relationHandlers(dependencies: CommandDependencies & { cursors: Cursors }): RelationApi {
  const { database, clock, cursors } = dependencies;
  const positions = cursorsOf(cursors, { name: 'id', keys: ['integer'] });
  return {
    listIncidentRelations: async ({ principal, params: { id }, query: { limit = DEFAULT_LIMIT, cursor } }) => {
      const workspaceId = principal.workspace.id;
      const path = relationContracts.listIncidentRelations.path.replace('{id}', String(id));
      const scope = { workspaceId, path };
      const [after = 0] = cursor === undefined ? [] : positions.decode(cursor, scope);
      await incidentStore(database, workspaceId).getVersion(id);
      const { rows, pagination } = await buildPage({
        listed: await relationStore(database, { workspaceId, id }).list(after, limit + 1),
        limit,
        view: relationView,
        nextCursor: (last) => positions.encode([last.id], scope),
      });
      return { body: { relations: rows, pagination } };
    },

    createIncidentRelation: async (request) => {
      const { principal, requestId, params, body } = request;
      const responseOf = ({ relation, isNew }: Related) => ({
        status: isNew ? 201 : 200,
        ...{ text: JSON.stringify({ relation: relationView(relation) }), revision: undefined },
      });
      const command = { principal, requestId, incidentId: params.id, type: body.type, relatedId: body.incident_id };
      return idempotently(database, request, async (key) =>
        responseOf(await relateIncidents(dependencies, { ...command, outcome: key && { key, responseOf } })),
      );
    },

    deleteIncidentRelation: async ({ principal, requestId, params: { id: incidentId, relationId: id } }) => {
      await unrelateIncidents(dependencies, { principal, requestId, incidentId, id });
      return {};
    },

    findSimilarIncidents: async ({ principal: { workspace }, query: { title, service = '' } }) => {
      const similar = await findSimilar(database, { workspace, compared: { title, service }, now: clock.now() });
      return { body: { similar: similar.map(similarView) } };
    },

    listSimilarIncidents: async ({ principal: { workspace }, params: { id } }) => {
      const compared = await incidentStore(database, workspace.id).get(id);
      const similar = await findSimilar(database, { workspace, compared, now: clock.now() });
      return { body: { similar: similar.map(similarView) } };
    },
  };
}

const relationView = ({ id, type, createdAt, createdBy, createdByKey, related }: Relation): RelationWire => ({
  id,
  type,
  incident: {
    id: related.id,
    human_id: humanId(related.number),
    title: related.title,
    severity: related.severity,
    status: related.status,
  },
  created_at: createdAt,
  created_by: createdBy,
  created_by_key: createdByKey,
});

const similarView = ({
  id,
  number,
  title,
  status,
  severity,
  service,
  createdAt,
  score,
}: Awaited<ReturnType<typeof findSimilar>>[number]): SimilarIncidentWire => ({
  incident_id: id,
  human_id: humanId(number),
  ...{ title, status, severity, service, score },
  created_at: createdAt,
});
