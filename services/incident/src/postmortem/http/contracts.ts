import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import { INCIDENT, params, read } from '../../incidents/http/contracts.ts';
import { postmortemReply } from './wire.ts';

/** contract: Post-mortems */
export const postmortemContracts = {
  getIncidentPostmortem: {
    ...endpoint('GET', `${INCIDENT}/postmortem`, 'Get the post-mortem of an incident'),
    tag: 'Incidents',
    ...read,
    params,
    cost: { base: 10 },
    markdown: true,
    reply: { status: 200, body: postmortemReply },
  },
} as const satisfies Contracts;

export type PostmortemApi = Handlers<typeof postmortemContracts>;
