import { timestampInput } from '@tocsin/contracts';
import { checkStorable, invalidRequest, validate } from '@tocsin/http';
import { checkListOrder } from '@tocsin/resources';
import { z } from 'zod';
import { LIFECYCLE_STATUSES } from './configuration.ts';

const key = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'Must be at most 64 lower-case letters, digits, hyphens and underscores');
const label = z.string().trim().min(1).max(128);
const color = z.string().trim().max(32).default('#667085');
const flag = z.boolean().default(false);
/** What the API shows and the list itself decides. */
const order = z.int().optional();

/** This service's part of a workspace's configuration file; each list replaces the stored list, in this order. */
const configurationPart = z.strictObject({
  workflow_statuses: z
    .array(
      z.strictObject({ key, label, order, is_default: flag, is_terminal: flag, is_escalation_threshold: flag, color }),
    )
    .optional(),
  severities: z
    .array(
      z.strictObject({
        key,
        label,
        order,
        is_default: flag,
        min_score: z.number().min(0),
        description: z.string().trim().max(1_000).default(''),
        color,
      }),
    )
    .optional(),
  exchange_rates: z
    .array(
      z.strictObject({ currency: z.string().regex(/^[A-Z]{3}$/), rate: z.number().positive(), as_of: timestampInput }),
    )
    .optional(),
  timeline_groups: z.array(z.strictObject({ id: z.int().min(1).optional(), name: label })).optional(),
});

export type ConfigurationPart = z.output<typeof configurationPart>;
type List<Name extends keyof ConfigurationPart> = NonNullable<ConfigurationPart[Name]>;

/** Keywords of the status filter of incident lists. */
const RESERVED_STATUS_KEYS: ReadonlySet<string> = new Set(['all', 'nonterminal']);

/**
 * Parses the part and checks the rules that need no stored data (contract: Administration).
 * @throws DomainError `unknown_field` or `invalid_request`, naming the field of the file
 */
export function readConfigurationPart(part: unknown): ConfigurationPart {
  checkStorable(part);
  const read = validate(configurationPart, part);
  const { workflow_statuses, severities, exchange_rates, timeline_groups } = read;
  if (workflow_statuses !== undefined) checkStatuses(workflow_statuses);
  if (severities !== undefined) checkSeverities(severities);
  checkUnique('exchange_rates', 'currency', exchange_rates ?? []);
  checkUnique('timeline_groups', 'id', timeline_groups ?? []);
  return read;
}

function checkStatuses(statuses: List<'workflow_statuses'>): void {
  checkUnique('workflow_statuses', 'key', statuses);
  checkListOrder('workflow_statuses', statuses);
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
  checkListOrder('severities', severities);
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
