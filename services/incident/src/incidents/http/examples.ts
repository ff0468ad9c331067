import { INITIAL } from '../domain/property-sets.ts';
import { incidentView } from './views.ts';

/** `INC-1` of the sample workspace, 14 minutes after the impact began. */
export const incidentExample = incidentView(
  {
    ...INITIAL,
    id: 1,
    revision: 4,
    workspaceId: 1,
    number: 1,
    title: 'Checkout answers slowly',
    service: 'checkout',
    regions: ['eu-west-1'],
    severity: 'sev2',
    status: 'active',
    statusChangedAt: '2026-11-20T09:32:10.000Z',
    endedAt: null,
    lastEventAt: '2026-11-20T09:34:00.000Z',
    lastEventSummary: 'Doubled the pool; latency is falling',
    severityMode: 'manual',
    impactSummary: 'One order in ten takes over ten seconds',
    customerImpactStatus: 'confirmed',
    impactStartedAt: '2026-11-20T09:25:00.000Z',
    firstReportedAt: '2026-11-20T09:28:00.000Z',
    firstRespondedAt: '2026-11-20T09:31:00.000Z',
    firstActedAt: '2026-11-20T09:32:10.000Z',
    teamId: 1,
    eventCount: 2,
    createdAt: '2026-11-20T09:30:00.000Z',
    createdBy: '1',
    createdByKey: { name: 'Alertmanager', prefix: 'tcs_4fD9' },
    customFields: { root_cause: 'capacity', affected_orders: 1250 },
    incidentManager: '1',
    incidentResponders: ['1'],
  },
  '2026-11-20T09:39:00.000Z',
);

/** An opaque cursor; clients send it back unchanged. */
export const CURSOR = 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJBbImNyZWF0ZWQiLDE3XQ';

/** `INC-1` of the sample workspace. */
export const params = { id: 1 };
