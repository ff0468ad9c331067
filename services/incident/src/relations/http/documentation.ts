import type { Documentation } from '@tocsin/http';
import { params } from '../../incidents/http/examples.ts';
import type { relationContracts } from './contracts.ts';

const relation = {
  id: 1,
  type: 'caused_by' as const,
  incident: { id: 2, human_id: 'INC-2', title: 'Search results are out of date', severity: 'sev3', status: 'closed' },
  created_at: '2026-11-20T09:40:00.000Z',
  created_by: '1',
  created_by_key: { name: 'Firefox on Linux', prefix: 'tcn_8sKq' },
};

const similar = {
  incident_id: 2,
  human_id: 'INC-2',
  title: 'Checkout is down in Asia',
  status: 'closed',
  severity: 'sev1',
  service: 'checkout',
  created_at: '2026-11-20T09:40:00.000Z',
  score: 0.71,
};

/** contract: Relations */
export const relationOperations: Documentation<typeof relationContracts> = {
  listIncidentRelations: {
    description: 'Returns the relations of an incident with the incidents that it is related to, the oldest first.',
    params,
    reply: { relations: [relation], pagination: { limit: 50, has_more: false } },
  },
  createIncidentRelation: {
    description:
      'Relates an incident to another one that is not archived. Both get a revision and a changelog entry. If the two are related so already, the response is 200 with the relation, and nothing changes. A circle of duplicates is refused. No revision is expected.',
    params,
    body: { type: 'caused_by', incident_id: 2 },
    reply: { relation },
  },
  deleteIncidentRelation: {
    description: 'Deletes a relation of an incident. Both incidents get a revision and a changelog entry.',
    params: { ...params, relationId: relation.id },
  },
  findSimilarIncidents: {
    description:
      'Returns at most five incidents that share words with a title, before an incident is declared. Words that few incidents have count most, and those of the same service come before others. Archived incidents are left out.',
    reply: { similar: [similar] },
  },
  listSimilarIncidents: {
    description:
      'Returns at most five incidents that share words with the title of an incident. Words that few incidents have count most, and those of the same service come before others. Archived incidents are left out.',
    params,
    reply: { similar: [similar] },
  },
};
