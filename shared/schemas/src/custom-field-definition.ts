import { z } from 'zod';
import { instant } from './envelope.ts';
import { MAX_CURRENCIES, MAX_OPTION_TEXT, MAX_OPTIONS, MAX_TEXT_VALUE } from './limits.ts';
import { boundedText } from './text-schemas.ts';

const id = z.int().min(1);

export const FIELD_TYPES = [
  'string',
  'number',
  'boolean',
  'date',
  'time',
  'datetime',
  'monetary',
  'json',
  'select',
  'multi_select',
] as const;

const optionTexts = {
  value: { description: 'The value that is stored; unique in its field' },
  label: { description: 'How user interfaces show it; default: the value' },
  color: { description: 'A color for user interfaces, such as `#d92d20`; default: none' },
};

/** An option of a select field: its value, and optionally how a user interface shows it. */
const selectOption = z.strictObject({
  value: z.string().meta(optionTexts.value),
  label: z.string().optional().meta(optionTexts.label),
  color: z.string().optional().meta(optionTexts.color),
});

const currencyCode = z.string().regex(/^[A-Z]{3}$/, 'Must be a currency code of three capital letters');

const maxLength = { description: 'For `string`: the most Unicode characters; default: 10,000' };
const currencies = {
  description: 'For `monetary`, instead of currency: the allowed currencies, without duplicates; default: any',
};
const options = {
  description:
    'For `select` and `multi_select`: the values to choose from, each alone or with label and color; required unless allow_custom is true',
};

/**
 * Validation options, as they are stored and published. Which keys are allowed depends on the field's type (contract: Custom
 * fields).
 */
export const fieldConfig = z.strictObject({
  max_length: z.int().min(1).optional().meta(maxLength),
  min: z.number().optional().meta({ description: 'For `number` and `monetary`: the least value; default: none' }),
  max: z.number().optional().meta({ description: 'For `number` and `monetary`: the greatest value; default: none' }),
  precision: z
    .int()
    .min(0)
    .max(10)
    .optional()
    .meta({ description: 'For `number` and `monetary`: the most decimals; default: any number' }),
  currency: currencyCode.optional().meta({ description: 'For `monetary`: the only allowed currency; default: any' }),
  currencies: z.array(currencyCode).min(1).optional().meta(currencies),
  options: z
    .array(z.union([z.string(), selectOption]))
    .min(1)
    .optional()
    .meta(options),
  allow_custom: z.boolean().optional().meta({
    description: 'For `select` and `multi_select`: whether other texts than the options are allowed; default: false',
  }),
});

const optionText = boundedText(MAX_OPTION_TEXT);

/** Validation options in a request. Stored ones may be larger, because limits can be lowered. */
export const fieldConfigInput = fieldConfig.extend({
  max_length: z.int().min(1).max(MAX_TEXT_VALUE).optional().meta(maxLength),
  currencies: z
    .array(currencyCode)
    .min(1)
    .max(MAX_CURRENCIES)
    .optional()
    .meta({ ...currencies, uniqueItems: true }),
  options: z
    .array(
      z.union([
        optionText,
        selectOption.extend({
          value: optionText.meta(optionTexts.value),
          label: optionText.optional().meta(optionTexts.label),
          color: optionText.optional().meta(optionTexts.color),
        }),
      ]),
    )
    .min(1)
    .max(MAX_OPTIONS)
    .optional()
    .meta({ ...options, uniqueItems: true }),
});

/** A field definition as its owner publishes it: complete, so that a replica can check values with it. */
export const customFieldDefinition = z.object({
  id: id.meta({ description: 'ID of the field' }),
  revision: z.int().min(1).meta({ description: 'The revision that this is: of two events, the larger one is newer' }),
  name: z.string().meta({ description: 'The name for people' }),
  slug: z.string().meta({ description: 'Names the field in custom_fields of incidents; never changes' }),
  field_type: z.enum(FIELD_TYPES).meta({ description: 'The form of its values; never changes' }),
  default_value: z
    .unknown()
    .optional()
    .meta({ description: 'The value of a new incident whose request has none; absent without one' }),
  config: fieldConfig.optional().meta({ description: 'Rules for the values; absent without any' }),
  required: z.boolean().meta({ description: 'Whether an incident that has a value must keep one' }),
  required_on_creation: z
    .boolean()
    .meta({ description: 'Whether a request that creates an incident must have a value' }),
  sort_order: z.int().meta({ description: 'Place in lists: lower comes first, then the older' }),
  created_at: instant.meta({ description: 'When the field was created' }),
  archived_at: instant.nullable().meta({ description: 'When the field was archived; null: it is active' }),
});

export type FieldType = (typeof FIELD_TYPES)[number];
export type FieldConfig = z.infer<typeof fieldConfig>;
export type CustomFieldDefinition = z.infer<typeof customFieldDefinition>;
