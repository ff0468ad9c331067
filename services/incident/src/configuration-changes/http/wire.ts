import { instant, keyText } from '@tocsin/schemas';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { ON_CALL_LEADS } from '../../configuration/domain/configuration.ts';
import {
  configurationLists,
  exchangeRate,
  MAX_ENTRIES,
  ON_CALL_LEAD,
  POSTMORTEM_TEMPLATE,
  TIME_ZONE,
} from '../../configuration/domain/configuration-lists.ts';
import { incidentRolesReply, severitiesReply, workflowStatusesReply } from '../../configuration/http/wire.ts';

const revision = z.int().min(1);
const { key, label, order, is_default } = workflowStatusesReply.shape.workflow_statuses.element.shape;

const configuration = z
  .strictObject({
    revision: revision.meta({
      description: 'Starts at 1 and increases with every change; a PUT must send it',
    }),
    workflow_statuses: workflowStatusesReply.shape.workflow_statuses,
    severities: severitiesReply.shape.severities,
    service_tiers: z
      .array(
        z
          .strictObject({
            key,
            label,
            order,
            is_default,
            description: z.string().meta({ description: 'What the tier means; empty: not described' }),
          })
          .meta({ id: 'ConfiguredServiceTier' }),
      )
      .meta({ description: 'All tiers of services, the most important first' }),
    exchange_rates: z
      .array(exchangeRate.extend({ as_of: instant.meta({ description: 'When the rate was right' }) }))
      .meta({ description: 'The exchange rates with which revenue at stake is converted' }),
    timeline_groups: z
      .array(
        z
          .strictObject({
            id: z.int().min(1).meta({ description: 'Identifies the group in timeline events' }),
            name: z.string().meta({ description: 'The name for people' }),
          })
          .meta({ id: 'ConfiguredTimelineGroup' }),
      )
      .meta({ description: 'The groups of timeline events, in their order' }),
    incident_roles: incidentRolesReply.shape.incident_roles,
    time_zone: z.string().meta({ description: TIME_ZONE }),
    on_call_lead: z.enum(ON_CALL_LEADS).meta({ description: ON_CALL_LEAD }),
    postmortem_template: z.string().meta({ description: POSTMORTEM_TEMPLATE }),
  })
  .meta({ id: 'Configuration' });

export const configurationReply = z.strictObject({
  configuration: schemaReference(configuration, 'The configuration as it is after the request'),
});

const replacements = (what: string) =>
  z
    .record(z.string(), keyText())
    .refine((keys) => Object.keys(keys).length <= MAX_ENTRIES.workflow_statuses, 'Must have at most 100 properties')
    .optional()
    .meta({
      maxProperties: MAX_ENTRIES.workflow_statuses,
      description: `What incidents get instead of a removed ${what}: keys of the new list, by the keys that the request removes`,
    });

export const newConfiguration = z
  .strictObject({
    revision: revision.optional().meta({
      description: 'May be left in a document that was read; must be that of If-Service-Resource-Version',
    }),
    ...configurationLists,
    replace: z
      .strictObject({ statuses: replacements('status'), severities: replacements('severity') })
      .optional()
      .meta({ description: 'Changes the incidents that have what the request removes, at most 10,000' }),
  })
  .meta({ id: 'NewConfiguration' });
