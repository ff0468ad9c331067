import type { CustomFieldDefinition, FieldConfig, FieldType } from './custom-field-definition.ts';
import { jsonBytes, MAX_JSON_VALUE_BYTES, MAX_OPTIONS, MAX_TEXT_VALUE, MAX_TIMESTAMP } from './limits.ts';
import { isLongerThan } from './text-schemas.ts';
import { isDate, NO_DATE, timestampViolation } from './timestamp.ts';

/** Why a value or a config is invalid. `path` is the dotted path within it; empty for the value as a whole. */
export interface Violation {
  code: 'invalid_request' | 'unknown_field';
  path: string;
  message: string;
}

/** The violation's path, starting at the property that holds the value: `value`, `value.amount`. */
export const violationField = (property: string, { path }: Violation) =>
  path === '' ? property : `${property}.${path}`;

const invalid = (path: string, message: string): Violation => ({ code: 'invalid_request', path, message });

const CONFIG_KEYS: Readonly<Record<FieldType, readonly (keyof FieldConfig)[]>> = {
  string: ['max_length'],
  number: ['min', 'max', 'precision'],
  boolean: [],
  date: [],
  time: [],
  datetime: [],
  monetary: ['min', 'max', 'precision', 'currency', 'currencies'],
  json: [],
  select: ['options', 'allow_custom'],
  multi_select: ['options', 'allow_custom'],
};

/**
 * Returns the first key of a config that is not allowed for the type or contradicts another key (contract: Custom
 * fields). The config must already match the schema `fieldConfig`.
 */
export function findConfigViolation(fieldType: FieldType, config: FieldConfig = {}): Violation | undefined {
  const unsupported = Object.keys(config).find((key) => !CONFIG_KEYS[fieldType].some((allowed) => allowed === key));
  if (unsupported !== undefined) {
    return { code: 'unknown_field', path: unsupported, message: `Is not allowed for a field of type ${fieldType}` };
  }
  const { min, max, currency, currencies, options, allow_custom } = config;
  if (min !== undefined && max !== undefined && min > max) return invalid('max', `Must be at least min (${min})`);
  if (currency !== undefined && currencies !== undefined)
    return invalid('currencies', 'Must not be combined with currency');
  if (CONFIG_KEYS[fieldType].includes('options') && options === undefined && allow_custom !== true) {
    return invalid('options', 'Must have at least one option unless allow_custom is true');
  }
  return findRepeated('options', optionValues(config)) ?? findRepeated('currencies', currencies ?? []);
}

/** Finds a value that occurs earlier in the list, in one pass. */
function findRepeated(path: string, values: readonly string[]): Violation | undefined {
  const seen = new Set<string>();
  const index = values.findIndex((value) => seen.size === seen.add(value).size);
  return index === -1
    ? undefined
    : invalid(path === '' ? String(index) : `${path}.${index}`, 'Must not occur more than once');
}

/** The values of a select field's options, in order. */
export const optionValues = ({ options = [] }: FieldConfig): string[] =>
  options.map((option) => (typeof option === 'string' ? option : option.value));

/** Elements of the stored value may stay. */
type Rule = (value: unknown, config: FieldConfig, stored: unknown) => Violation | undefined;

/** @param findFault says what is wrong with a text; not undefined for an empty one */
const textRule = (findFault: (text: string) => string | undefined): Rule => {
  return (value) => {
    const text = typeof value === 'string' ? value : '';
    const tooLong = findLengthViolation('', text, MAX_TIMESTAMP);
    if (tooLong !== undefined) return tooLong;
    const fault = findFault(text);
    return fault === undefined ? undefined : invalid('', fault);
  };
};

const findLengthViolation = (path: string, text: string, max: number): Violation | undefined =>
  isLongerThan(text, max) ? invalid(path, `Must be at most ${max} characters`) : undefined;

const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/;

const RULES: Readonly<Record<FieldType, Rule>> = {
  string: (value, { max_length = MAX_TEXT_VALUE }) =>
    typeof value === 'string'
      ? findLengthViolation('', value, Math.min(max_length, MAX_TEXT_VALUE))
      : invalid('', 'Must be text'),
  number: (value, config) => findNumberViolation('', value, config),
  boolean: (value) => (typeof value === 'boolean' ? undefined : invalid('', 'Must be true or false')),
  date: textRule((text) => (isDate(text) ? undefined : NO_DATE)),
  time: textRule((text) => (TIME_OF_DAY.test(text) ? undefined : 'Must be a time of day, HH:MM or HH:MM:SS')),
  datetime: textRule(timestampViolation),
  monetary: findMonetaryViolation,
  json: (value) =>
    jsonBytes(value) > MAX_JSON_VALUE_BYTES
      ? invalid('', `Must be at most ${MAX_JSON_VALUE_BYTES} bytes of compact JSON`)
      : undefined,
  select: (value, config) => choiceRule(config)('', value),
  multi_select: (value, config, stored) => {
    if (!Array.isArray(value)) return invalid('', 'Must be an array of texts');
    if (value.length > MAX_OPTIONS) return invalid('', `Must have at most ${MAX_OPTIONS} items`);
    const findChoiceViolation = choiceRule(config, Array.isArray(stored) ? stored : []);
    for (const [index, item] of value.entries()) {
      const violation = findChoiceViolation(String(index), item);
      if (violation !== undefined) return violation;
    }
    return findRepeated('', value as string[]);
  },
};

/**
 * Checks a JSON value against its field's definition (contract: Custom fields). The caller handles a null that unsets
 * the field, and the stored value itself.
 * @param stored the incident's value, of which elements may stay
 */
export function findValueViolation(
  { field_type, config = {} }: Pick<CustomFieldDefinition, 'field_type' | 'config'>,
  value: unknown,
  stored?: unknown,
): Violation | undefined {
  return RULES[field_type](value, config, stored);
}

function findNumberViolation(
  path: string,
  value: unknown,
  { min, max, precision }: FieldConfig,
): Violation | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return invalid(path, 'Must be a finite number');
  if (min !== undefined && value < min) return invalid(path, `Must be at least ${min}`);
  if (max !== undefined && value > max) return invalid(path, `Must be at most ${max}`);
  if (precision !== undefined && decimalsOf(value) > precision) {
    return invalid(path, precision === 0 ? 'Must be a whole number' : `Must have at most ${precision} decimals`);
  }
  return undefined;
}

/** Counts on the shortest decimal text: arithmetic on a binary fraction such as 1.005 would find extra decimals. */
function decimalsOf(value: number): number {
  const [, fraction = '', exponent = '0'] = /^-?\d+(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  return Math.max(0, fraction.length - Number(exponent));
}

function findMonetaryViolation(value: unknown, config: FieldConfig): Violation | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return invalid('', 'Must be an object with amount and currency');
  }
  const unknownKey = Object.keys(value).find((key) => key !== 'amount' && key !== 'currency');
  if (unknownKey !== undefined)
    return { code: 'unknown_field', path: unknownKey, message: 'Is not allowed: money has only amount and currency' };
  const { amount, currency } = value as Record<string, unknown>;
  const amountViolation = findNumberViolation('amount', amount, config);
  if (amountViolation !== undefined) return amountViolation;
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    return invalid('currency', 'Must be a currency code of three capital letters');
  }
  const allowed = config.currency === undefined ? config.currencies : [config.currency];
  if (allowed === undefined || allowed.includes(currency)) return undefined;
  return invalid('currency', "Must be one of the field's currencies");
}

function choiceRule(
  config: FieldConfig,
  stored: readonly unknown[] = [],
): (path: string, value: unknown) => Violation | undefined {
  const options = new Set<unknown>([...optionValues(config), ...stored]);
  return (path, value) => {
    if (typeof value !== 'string') return invalid(path, 'Must be text');
    if (options.has(value)) return undefined;
    if (config.allow_custom === true) return findLengthViolation(path, value, MAX_TEXT_VALUE);
    return invalid(path, "Must be one of the field's options");
  };
}
