import { checkStorable, invalidRequest, validate } from '@tocsin/http';
import { checkListOrder } from '@tocsin/versioned-resources';
import { LIFECYCLE_STATUSES, type OnCallLead } from './configuration.ts';
import { configurationFile, type GivenLists, normalise } from './configuration-lists.ts';

/** What a request or a file gives of a configuration, valid and with all defaults. */
export interface ConfigurationPart {
  workflow_statuses?: ReturnType<typeof normalise.workflow_statuses>[];
  severities?: ReturnType<typeof normalise.severities>[];
  service_tiers?: ReturnType<typeof normalise.service_tiers>[];
  exchange_rates?: NonNullable<GivenLists['exchange_rates']>;
  timeline_groups?: ReturnType<typeof normalise.timeline_groups>[];
  incident_roles?: ReturnType<typeof normalise.incident_roles>[];
  time_zone?: string;
  on_call_lead?: OnCallLead;
  postmortem_template?: string;
}
type List<Name extends 'workflow_statuses' | 'severities'> = NonNullable<ConfigurationPart[Name]>;

/** Keywords of the status filter of incident lists. */
const RESERVED_STATUS_KEYS: ReadonlySet<string> = new Set(['all', 'nonterminal']);

/**
 * Parses the part and checks the rules that need no stored data (contract: Configuration).
 * @throws DomainError `unknown_field` or `invalid_request`, naming the field
 */
export function readConfigurationPart(part: unknown): ConfigurationPart {
  checkStorable(part);
  const given = validate(configurationFile, part);
  for (const field of ['workflow_statuses', 'severities', 'service_tiers'] as const) {
    if (given[field] !== undefined) checkListOrder(field, given[field]);
  }
  const read: ConfigurationPart = {
    ...(given.workflow_statuses && { workflow_statuses: given.workflow_statuses.map(normalise.workflow_statuses) }),
    ...(given.severities && { severities: given.severities.map(normalise.severities) }),
    ...(given.service_tiers && { service_tiers: given.service_tiers.map(normalise.service_tiers) }),
    ...(given.exchange_rates && { exchange_rates: given.exchange_rates }),
    ...(given.timeline_groups && { timeline_groups: given.timeline_groups.map(normalise.timeline_groups) }),
    ...(given.incident_roles && { incident_roles: given.incident_roles.map(normalise.incident_roles) }),
    ...(given.time_zone !== undefined && { time_zone: given.time_zone }),
    ...(given.on_call_lead !== undefined && { on_call_lead: given.on_call_lead }),
    ...(given.postmortem_template !== undefined && { postmortem_template: given.postmortem_template }),
  };
  const { workflow_statuses, severities, service_tiers, exchange_rates, timeline_groups } = read;
  if (workflow_statuses !== undefined) checkStatuses(workflow_statuses);
  if (severities !== undefined) checkSeverities(severities);
  if (service_tiers !== undefined) {
    checkUnique('service_tiers', 'key', service_tiers);
    checkOneDefault('service_tiers', service_tiers);
  }
  checkUnique('exchange_rates', 'currency', exchange_rates ?? []);
  checkUnique('timeline_groups', 'id', timeline_groups ?? []);
  checkUnique('incident_roles', 'key', read.incident_roles ?? []);
  return read;
}

function checkStatuses(statuses: List<'workflow_statuses'>): void {
  checkUnique('workflow_statuses', 'key', statuses);
  checkOneDefault('workflow_statuses', statuses);
  const reserved = statuses.findIndex((status) => RESERVED_STATUS_KEYS.has(status.key));
  if (reserved !== -1)
    throw invalidRequest(`workflow_statuses.${reserved}.key`, 'Must not be a keyword of the status filter');
  const missing = Object.values(LIFECYCLE_STATUSES).find((required) =>
    statuses.every((status) => status.key !== required),
  );
  if (missing !== undefined) throw invalidRequest('workflow_statuses', `The status ${missing} cannot be removed`);
}

function checkSeverities(severities: List<'severities'>): void {
  checkUnique('severities', 'key', severities);
  checkOneDefault('severities', severities);
  const rising = severities.findIndex(
    ({ min_score }, index) => min_score > (severities[index - 1]?.min_score ?? Infinity),
  );
  if (rising !== -1) {
    throw invalidRequest(
      `severities.${rising}.min_score`,
      'Must not be greater than the score of the previous severity: the most severe comes first',
    );
  }
}

function checkOneDefault(field: string, entries: readonly { is_default: boolean }[]): void {
  const defaults = entries.filter(({ is_default }) => is_default).length;
  if (defaults !== 1) throw invalidRequest(field, `Exactly one entry must be the default, not ${defaults}`);
}

function checkUnique<Name extends string>(
  field: string,
  name: Name,
  entries: readonly Partial<Record<Name, string | number | undefined>>[],
): void {
  const values = entries.map((entry) => entry[name]);
  const repeated = values.findIndex((value, index) => value !== undefined && values.indexOf(value) !== index);
  if (repeated !== -1)
    throw invalidRequest(`${field}.${repeated}.${name}`, `${String(values[repeated])} is a duplicate`);
}
