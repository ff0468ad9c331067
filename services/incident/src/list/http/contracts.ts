import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import { INCIDENTS, read } from '../../incidents/http/contracts.ts';
import { statisticsQuery, statisticsReply, listQuery, listReply } from './wire.ts';

const lists = {
  tag: 'Incidents',
  ...read,
  query: listQuery,
  // Of an item of custom_filter.
  errors: ['unknown_field'],
  // Counts and custom fields read more rows than other parameters.
  cost: { base: 2, parameters: { include_counts: 4, q: 4, custom_filter: 4, sort_custom_field: 4 } },
  reply: { status: 200, body: listReply },
} as const;

/** contract: Incident lists, Incident statistics */
export const listContracts = {
  listIncidents: { ...endpoint('GET', INCIDENTS, 'List incidents'), ...lists },
  listArchivedIncidents: { ...endpoint('GET', `${INCIDENTS}/archived`, 'List archived incidents'), ...lists },
  getIncidentStatistics: {
    ...endpoint('GET', `${INCIDENTS}/statistics`, 'Get statistics of incidents'),
    tag: 'Incidents',
    ...read,
    query: statisticsQuery,
    errors: ['unknown_field'],
    cost: { base: 10, parameters: { q: 4, custom_filter: 4 } },
    reply: { status: 200, body: statisticsReply },
  },
} as const satisfies Contracts;

export type ListApi = Handlers<typeof listContracts>;
