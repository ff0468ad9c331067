import { notFound } from '@tocsin/http';
import { numberOf } from '../domain/incident.ts';
import { incidentStore } from '../store/incident-store.ts';
import type { Dependencies } from '../../dependencies.ts';
import { updateIncident } from '../update-incident.ts';
import { toIncidentProperties } from './properties.ts';
import type { RenderedIncidents } from './rendered-incidents.ts';
import { incidentView } from './views.ts';
import type { IncidentApi } from './contracts.ts';

export function incidentHandlers({
  dependencies,
  rendered,
}: {
  dependencies: Dependencies;
  rendered: RenderedIncidents;
}): IncidentApi {
  const { database, clock } = dependencies;
  return {
    getIncident: async ({ principal, params: { id } }) => {
      const store = incidentStore(database, principal.workspace.id);
      const version = rendered.keeps(id) ? await store.getVersion(id) : undefined;
      const incident = version !== undefined && rendered.has(version) ? version : await store.get(id);
      return { body: { incident: rendered.json(incident, clock.now()) }, revision: incident.revision };
    },

    getIncidentByReference: async ({ principal, params: { reference } }) => {
      const number = numberOf(reference);
      if (number === undefined) throw notFound('The incident');
      const incident = await incidentStore(database, principal.workspace.id).getByNumber(number);
      return { body: { incident: incidentView(incident, clock.now()) }, revision: incident.revision };
    },

    updateIncident: async ({ principal, requestId, params: { id }, expectedRevision, body }) => {
      const changes = toIncidentProperties(body);
      const incident = await updateIncident(dependencies, { principal, requestId, id, expectedRevision, changes });
      return { body: { incident: incidentView(incident, clock.now()) }, revision: incident.revision };
    },
  };
}
