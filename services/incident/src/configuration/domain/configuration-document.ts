import { type ConfiguredTier, parseTimestamp } from '@tocsin/schemas';
import type { Instant } from '@tocsin/runtime';
import type { Configuration, IncidentRole, Severity, WorkflowStatus } from './configuration.ts';
import type { ConfigurationPart } from './configuration-part.ts';

/**
 * The lists of a workspace's configuration and its time zone as they are stored: this service's, its timeline groups, the
 * catalog's tiers.
 */
export interface ConfigurationLists extends Pick<
  Configuration,
  'statuses' | 'severities' | 'incidentRoles' | 'timeZone' | 'onCallLead'
> {
  exchangeRates: Readonly<Record<string, { rate: number; asOf: Instant }>>;
  groups: readonly { id: number; name: string }[];
  tiers: readonly ConfiguredTier[];
  /** Empty: the built-in one. */
  postmortemTemplate: string;
}

/** What may be replaced; groups have no IDs yet. */
export type NewLists = Partial<Omit<ConfigurationLists, 'groups'>>;

/** Converts the lists of a request or a file into the stored form. */
export function toLists(part: ConfigurationPart): NewLists {
  const {
    workflow_statuses,
    severities,
    service_tiers,
    exchange_rates,
    incident_roles,
    time_zone,
    on_call_lead,
    postmortem_template,
  } = part;
  return {
    ...(workflow_statuses !== undefined && {
      statuses: workflow_statuses.map((status, order) => ({
        key: status.key,
        label: status.label,
        order,
        isDefault: status.is_default,
        isTerminal: status.is_terminal,
        isEscalationThreshold: status.is_escalation_threshold,
        color: status.color,
      })),
    }),
    ...(severities !== undefined && {
      severities: severities.map((severity, order) => ({
        key: severity.key,
        label: severity.label,
        order,
        isDefault: severity.is_default,
        minScore: severity.min_score,
        restricted: severity.restricted,
        description: severity.description,
        color: severity.color,
      })),
    }),
    ...(service_tiers !== undefined && { tiers: service_tiers.map((tier, order) => ({ ...tier, order })) }),
    ...(exchange_rates !== undefined && {
      exchangeRates: Object.fromEntries(
        exchange_rates.map(({ currency, rate, as_of }) => [currency, { rate, asOf: parseTimestamp(as_of) as string }]),
      ),
    }),
    ...(incident_roles !== undefined && {
      incidentRoles: incident_roles.map(({ several_holders, ...role }) => ({
        ...role,
        severalHolders: several_holders,
      })),
    }),
    ...(time_zone !== undefined && { timeZone: time_zone }),
    ...(on_call_lead !== undefined && { onCallLead: on_call_lead }),
    ...(postmortem_template !== undefined && { postmortemTemplate: postmortem_template }),
  };
}

export const workflowStatusView = (status: WorkflowStatus) => ({
  key: status.key,
  label: status.label,
  order: status.order,
  is_default: status.isDefault,
  is_terminal: status.isTerminal,
  is_escalation_threshold: status.isEscalationThreshold,
  color: status.color,
});

export const severityView = (severity: Severity) => ({
  key: severity.key,
  label: severity.label,
  order: severity.order,
  is_default: severity.isDefault,
  min_score: severity.minScore,
  restricted: severity.restricted ?? false,
  description: severity.description,
  color: severity.color,
});

export const incidentRoleView = ({ key, label, description, severalHolders }: IncidentRole) => ({
  key,
  label,
  description,
  several_holders: severalHolders,
});

/** The lists with the names and in the form of the API and of the administration command's file. */
export const listsView = ({ statuses, severities, tiers, exchangeRates, groups, ...lists }: ConfigurationLists) => ({
  workflow_statuses: statuses.map(workflowStatusView),
  severities: severities.map(severityView),
  service_tiers: tiers.map(({ key, label, order, is_default, description }) => ({
    key,
    label,
    order,
    is_default,
    description,
  })),
  exchange_rates: Object.entries(exchangeRates).map(([currency, { rate, asOf }]) => ({ currency, rate, as_of: asOf })),
  timeline_groups: groups.map(({ id, name }) => ({ id, name })),
  incident_roles: lists.incidentRoles.map(incidentRoleView),
  time_zone: lists.timeZone,
  on_call_lead: lists.onCallLead,
  postmortem_template: lists.postmortemTemplate,
});

export type ConfigurationListsView = ReturnType<typeof listsView>;
