import type { Documentation } from '@tocsin/http';
import type { retentionContracts } from './contracts.ts';

const days = { archived_incidents: null, audit_log: null, access_log: null, alert_records: null };
const retention = { revision: 1, days, starts_at: days, announced: { count: 0, first_at: null } };

const START = '2026-03-01T09:30:00.000Z';

/** contract: Retention */
export const retentionOperations: Documentation<typeof retentionContracts> = {
  getRetention: {
    description:
      'Returns for how many days the workspace keeps archived incidents, the audit log, the access log and the records of alerts, from when on what is older is deleted, and how many archived incidents the next 30 days delete.',
    reply: { retention },
  },
  replaceRetention: {
    description:
      'Sets for how many days the workspace keeps what the body names; null is for ever. A period that is new or shorter applies 30 days later. Incidents are deleted as by their deletion, in the name of the user who has set the periods.',
    revision: 1,
    body: { days: { archived_incidents: 730, audit_log: 1_095 } },
    reply: {
      retention: {
        ...retention,
        revision: 2,
        days: { ...days, archived_incidents: 730, audit_log: 1_095 },
        starts_at: { ...days, archived_incidents: START, audit_log: START },
      },
    },
  },
};
