import type { Documentation } from '@tocsin/http';
import { DEFAULT_CONFIGURATION } from '../../configuration/domain/configuration.ts';
import { severityView, workflowStatusView } from '../../configuration/domain/configuration-document.ts';
import type { configurationChangeContracts } from './contracts.ts';

const statuses = DEFAULT_CONFIGURATION.statuses.map(workflowStatusView);
const configuration = {
  revision: 1,
  workflow_statuses: statuses,
  severities: DEFAULT_CONFIGURATION.severities.map(severityView),
  service_tiers: ['t0', 't1', 't2', 't3'].map((key, order) => ({
    key,
    label: `Tier ${order}`,
    order,
    is_default: key === 't2',
    description: '',
  })),
  exchange_rates: [],
  timeline_groups: [],
  incident_roles: [],
  time_zone: 'UTC',
  on_call_lead: 'off' as const,
  postmortem_template: '',
};

const ON_HOLD = 'on-hold';
/** Without `order`, which follows from the place. */
const withoutOnHold = statuses.filter(({ key }) => key !== ON_HOLD).map(({ order: _, ...status }) => status);

/** contract: Configuration */
export const configurationChangeOperations: Documentation<typeof configurationChangeContracts> = {
  getConfiguration: {
    description:
      'Returns all lists that an administrator configures for the workspace: statuses, severities, service tiers, exchange rates, timeline groups and incident roles, its time zone, and its template of post-mortems. A workspace that was never configured has the defaults and the revision 1.',
    reply: { configuration },
  },
  replaceConfiguration: {
    description:
      'Replaces each list that the body contains as a whole, the time zone, and the template of post-mortems; what the body lacks stays as it is. `If-Service-Resource-Version` must be the current revision, and a document that was read can be sent back with its `revision`. Everything is changed or nothing, and a request that changes nothing keeps the revision.\n\nWhat something still uses cannot be removed: the response is 409, and `details` counts the incidents for each removed status and severity (`{ "statuses": { "on-hold": 3 } }`), the services for each tier and the timeline events for each group. The holders of a removed incident role stay. `replace` gives those incidents, at most 10,000, active and archived, another status or severity in the same transaction: each gets a revision, a changelog entry and an event, as by a PATCH of the key\'s owner.',
    revision: 1,
    body: {
      workflow_statuses: withoutOnHold,
      timeline_groups: [{ name: 'Mitigation' }],
      replace: { statuses: { [ON_HOLD]: 'monitoring' } },
    },
    reply: {
      configuration: {
        ...configuration,
        revision: 2,
        workflow_statuses: withoutOnHold.map((status, order) => ({ ...status, order })),
        timeline_groups: [{ id: 1, name: 'Mitigation' }],
      },
    },
  },
};
