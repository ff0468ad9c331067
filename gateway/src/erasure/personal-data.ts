import {
  dataStep,
  type DataStep,
  erasureStep,
  type ErasureStep,
  INTERNAL_PATHS,
  type PersonalDataRequest,
} from '@tocsin/schemas';
import { SERVICE_NAMES } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { erasePersonalData, readPersonalData } from '@tocsin/service-host';
import type { ServicesClient } from '../upstreams/clients/services-client.ts';
import { PERSONAL_TABLES } from './personal-tables.ts';

/** The apps in the order of an export. */
export const APPS_WITH_DATA = ['gateway', ...SERVICE_NAMES] as const;
export type AppWithData = (typeof APPS_WITH_DATA)[number];

/** Takes steps in the data of any app. A service that does not answer in time throws. */
export function personalData({ database, services }: { database: Knex; services: Pick<ServicesClient, 'command'> }) {
  return {
    read: async (app: AppWithData, body: PersonalDataRequest): Promise<DataStep> =>
      app === 'gateway'
        ? readPersonalData(database, PERSONAL_TABLES, body)
        : services.command(app, { path: INTERNAL_PATHS.personalData, body, answer: dataStep }),
    erase: async (app: AppWithData, body: PersonalDataRequest): Promise<ErasureStep> =>
      app === 'gateway'
        ? erasePersonalData(database, PERSONAL_TABLES, body)
        : services.command(app, { path: INTERNAL_PATHS.personalDataErasure, body, answer: erasureStep }),
  };
}

export type PersonalData = ReturnType<typeof personalData>;
