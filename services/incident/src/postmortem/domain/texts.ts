import { type CustomFieldDefinition, isLargeValue } from '@tocsin/schemas';
import { knownTimeZone, localTime } from '@tocsin/runtime';
import type { Change } from '../../incidents/domain/changes.ts';
import { TRANSFERRED_MOMENTS } from '../../incidents/domain/property-sets.ts';
import type { Configuration } from '../../configuration/domain/configuration.ts';
import type { Fields } from '../../replicas/domain/fields.ts';
import { idIn, referredBy, ROLE_PREFIX } from './names.ts';

/** What the texts of a post-mortem take names and labels from. */
export interface Labels {
  configuration: Configuration;
  fields: Fields;
  userNames: ReadonlyMap<number, string>;
  teamNames: ReadonlyMap<number, string>;
}

const NONE = 'none';
const FIELD_PREFIX = 'custom_fields.';

/** The label of a configured key; a key that is no longer configured is its own. */
export const labelOf = (entries: readonly { key: string; label: string }[], key: string): string =>
  entries.find((entry) => entry.key === key)?.label ?? key;

/** The name of a person as an incident has it: of a user, else what is stored. */
export function personName(stored: string, { userNames }: Pick<Labels, 'userNames'>): string {
  const [id] = idIn(stored);
  return (id === undefined ? undefined : userNames.get(id)) ?? stored;
}

/** The value of a custom field for people. */
export function valueText(value: unknown, field: CustomFieldDefinition | undefined): string {
  const optionText = (option: unknown): string =>
    (field?.config?.options ?? [])
      .map((each) => (typeof each === 'string' ? { value: each, label: each } : each))
      .find((each) => each.value === option)?.label ?? plainText(option);
  if (isLargeValue(value)) return plainText(value);
  if (field?.field_type === 'select') return optionText(value);
  if (field?.field_type === 'multi_select' && Array.isArray(value) && value.length > 0)
    return value.map(optionText).join(', ');
  if (field?.field_type === 'monetary' && typeof value === 'object' && value !== null) {
    const { amount, currency } = value as { amount: number; currency: string };
    return `${amount} ${currency}`;
  }
  return plainText(value);
}

function plainText(value: unknown): string {
  if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0))
    return NONE;
  if (isLargeValue(value)) return `a value of ${value.bytes} bytes`;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The name of a property for people: `Impact summary`, `Team`. */
function propertyLabel(field: string, { fields, configuration }: Pick<Labels, 'fields' | 'configuration'>): string {
  if (field.startsWith(FIELD_PREFIX)) {
    const slug = field.slice(FIELD_PREFIX.length);
    return fields.findBySlug(slug)?.name ?? slug;
  }
  if (field.startsWith(ROLE_PREFIX)) return labelOf(configuration.incidentRoles, field.slice(ROLE_PREFIX.length));
  const words = field.replace(/^relations\.|_id$/g, '').replaceAll('_', ' ');
  return capitalised(words);
}

export const capitalised = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

const MOMENTS = new Set<string>([...TRANSFERRED_MOMENTS.map(({ name }) => name), 'created_at', 'archived_at']);

/** A moment for people, as the clocks of a zone show it. */
export const momentText = (at: string, zone: string): string =>
  localTime(Date.parse(at), zone)
    .toISOString()
    .replace(/^(\S+)T(\d\d:\d\d:\d\d)\.\d+Z$/, '$1 $2');

/** Describes the change of a property: its name, and what it was and is. */
export function changeTexts({ field, from, to }: Change, labels: Labels): { label: string; from: string; to: string } {
  const { configuration, fields, teamNames } = labels;
  const zone = knownTimeZone(configuration.timeZone);
  const one = (value: unknown): string => {
    const [id] = idIn(value);
    if (field === 'status' && typeof value === 'string') return labelOf(configuration.statuses, value);
    if (field === 'severity' && typeof value === 'string') return labelOf(configuration.severities, value);
    if (referredBy(field) === 'team' && id !== undefined) return teamNames.get(id) ?? String(id);
    if (referredBy(field) === 'user' && id !== undefined) return personName(String(id), labels);
    if (MOMENTS.has(field) && typeof value === 'string') return `${momentText(value, zone)} ${zone}`;
    if (field.startsWith(FIELD_PREFIX)) return valueText(value, fields.findBySlug(field.slice(FIELD_PREFIX.length)));
    return plainText(value);
  };
  const text = (value: unknown) =>
    Array.isArray(value) && value.length > 0 && referredBy(field) !== undefined
      ? value.map(one).join(', ')
      : one(value);
  return { label: propertyLabel(field, labels), from: text(from), to: text(to) };
}
