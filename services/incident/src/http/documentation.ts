import type { Documentation } from '@tocsin/http';
import type { contracts } from './contracts.ts';
import { alertOperations } from '../alerts/http/documentation.ts';
import { bulkOperations } from '../bulk/http/documentation.ts';
import { chatOperations } from '../chat/http/documentation.ts';
import { configurationOperations } from '../configuration/http/documentation.ts';
import { configurationChangeOperations } from '../configuration-changes/http/documentation.ts';
import { creationOperations } from '../creation/http/documentation.ts';
import { deletionOperations } from '../deletion/http/documentation.ts';
import { retentionOperations } from '../retention/http/documentation.ts';
import { followUpOperations } from '../follow-ups/http/documentation.ts';
import { lifecycleOperations } from '../lifecycle/http/documentation.ts';
import { listOperations } from '../list/http/documentation.ts';
import { incidentOperations } from '../incidents/http/documentation.ts';
import { transferOperations } from '../transfer/http/documentation.ts';
import { pictureOperations } from '../pictures/http/documentation.ts';
import { postmortemOperations } from '../postmortem/http/documentation.ts';
import { relationOperations } from '../relations/http/documentation.ts';
import { timelineOperations } from '../timeline/http/documentation.ts';
import { trackerOperations } from '../trackers/http/documentation.ts';
import { valueOperations } from '../values/http/documentation.ts';

/** Descriptions and examples of the incident service's operations, for the API description. */
export const documentation: Documentation<typeof contracts> = {
  ...listOperations,
  ...creationOperations,
  ...incidentOperations,
  ...lifecycleOperations,
  ...bulkOperations,
  ...relationOperations,
  ...timelineOperations,
  ...pictureOperations,
  ...postmortemOperations,
  ...followUpOperations,
  ...trackerOperations,
  ...valueOperations,
  ...chatOperations,
  ...configurationOperations,
  ...configurationChangeOperations,
  ...transferOperations,
  ...alertOperations,
  ...deletionOperations,
  ...retentionOperations,
};
