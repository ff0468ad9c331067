import { nameText } from '@tocsin/schemas';
import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import { z } from 'zod';
import { INCIDENT, params } from '../../incidents/http/contracts.ts';

const deletionRequest = z
  .strictObject({
    reason: nameText(1_000).meta({ description: 'Why, for the audit log; 1 to 1,000 characters after trimming' }),
    confirmation: z.string().max(32).meta({ description: 'The `human_id` of the incident, such as `INC-14`' }),
  })
  .meta({ id: 'IncidentDeletion' });

/** contract: Deleting an incident */
export const deletionContracts = {
  deleteIncident: {
    ...endpoint('POST', `${INCIDENT}/delete`, 'Delete an incident for good'),
    ...{ tag: 'Deletion', scope: 'incidents:write', needs: ['delete_permanently'], params },
    body: deletionRequest,
    reply: { status: 204 },
  },
} as const satisfies Contracts;

export type DeletionApi = Handlers<typeof deletionContracts>;
