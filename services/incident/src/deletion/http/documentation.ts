import type { Documentation } from '@tocsin/http';
import type { deletionContracts } from './contracts.ts';

/** contract: Deleting an incident */
export const deletionOperations: Documentation<typeof deletionContracts> = {
  deleteIncident: {
    description:
      'Deletes an incident with its timeline, changelog, values, follow-ups and relations, archived or not. Its number is never given again. The audit log keeps the reference and the reason.',
    params: { id: 3 },
    body: { reason: 'Asked for by the data protection officer', confirmation: 'INC-3' },
  },
};
