import type { Contracts } from '@tocsin/http';
import { alertContracts } from '../alerts/http/contracts.ts';
import { bulkContracts } from '../bulk/http/contracts.ts';
import { chatContracts } from '../chat/http/contracts.ts';
import { configurationContracts } from '../configuration/http/contracts.ts';
import { configurationChangeContracts } from '../configuration-changes/http/contracts.ts';
import { creationContracts } from '../creation/http/contracts.ts';
import { accessContracts, changelogContracts, incidentContracts } from '../incidents/http/contracts.ts';
import { deletionContracts } from '../deletion/http/contracts.ts';
import { followUpContracts } from '../follow-ups/http/contracts.ts';
import { lifecycleContracts } from '../lifecycle/http/contracts.ts';
import { listContracts } from '../list/http/contracts.ts';
import { pictureContracts } from '../pictures/http/contracts.ts';
import { postmortemContracts } from '../postmortem/http/contracts.ts';
import { transferContracts } from '../transfer/http/contracts.ts';
import { retentionContracts } from '../retention/http/contracts.ts';
import { relationContracts } from '../relations/http/contracts.ts';
import { timelineContracts } from '../timeline/http/contracts.ts';
import { trackerContracts } from '../trackers/http/contracts.ts';
import { valueContracts } from '../values/http/contracts.ts';

/** The API of the incident service, in the order of its description. */
export const contracts = {
  ...listContracts,
  ...creationContracts,
  ...incidentContracts,
  ...lifecycleContracts,
  ...bulkContracts,
  ...changelogContracts,
  ...accessContracts,
  ...relationContracts,
  ...timelineContracts,
  ...pictureContracts,
  ...postmortemContracts,
  ...trackerContracts,
  ...followUpContracts,
  ...valueContracts,
  ...chatContracts,
  ...configurationContracts,
  ...configurationChangeContracts,
  ...transferContracts,
  ...alertContracts,
  ...deletionContracts,
  ...retentionContracts,
} as const satisfies Contracts;
