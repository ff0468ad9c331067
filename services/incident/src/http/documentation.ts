import type { Documentation } from '@tocsin/http';
import type { contracts } from './contracts.ts';
import { chatOperations } from './documentation/chat.ts';
import { configurationOperations } from './documentation/configuration.ts';
import { incidentOperations } from './documentation/incidents.ts';
import { timelineOperations } from './documentation/timeline.ts';
import { valueOperations } from './documentation/values.ts';

/** Descriptions and examples of the incident service's operations, for the API description. */
export const documentation: Documentation<typeof contracts> = {
  ...incidentOperations,
  ...timelineOperations,
  ...valueOperations,
  ...chatOperations,
  ...configurationOperations,
};
