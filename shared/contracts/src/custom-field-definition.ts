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

/** An option of a select field: its value, and optionally how a user interface shows it. */
export const selectOption = z.strictObject({
  value: z.string(),
  label: z.string().optional(),
  color: z.string().optional(),
});

const currencyCode = z.string().regex(/^[A-Z]{3}$/, 'Must be a currency code of three capital letters');

/**
 * Validation options, as they are stored and published. Which keys are allowed depends on the field's type (contract: Custom
 * fields).
 */
export const fieldConfig = z.strictObject({
  max_length: z.int().min(1).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  precision: z.int().min(0).max(10).optional(),
  currency: currencyCode.optional(),
  currencies: z.array(currencyCode).min(1).optional(),
  options: z
    .array(z.union([z.string(), selectOption]))
    .min(1)
    .optional(),
  allow_custom: z.boolean().optional(),
});

const optionText = boundedText(MAX_OPTION_TEXT);

/** Validation options in a request. Stored ones may be larger, because limits can be lowered. */
export const fieldConfigInput = fieldConfig.extend({
  max_length: z.int().min(1).max(MAX_TEXT_VALUE).optional(),
  currencies: z.array(currencyCode).min(1).max(MAX_CURRENCIES).optional(),
  options: z
    .array(
      z.union([
        optionText,
        selectOption.extend({
          value: optionText,
          label: optionText.optional(),
          color: boundedText(MAX_OPTION_TEXT).optional(),
        }),
      ]),
    )
    .min(1)
    .max(MAX_OPTIONS)
    .optional(),
});

/** A field definition as its owner publishes it: complete, so that a replica can check values with it. */
export const customFieldDefinition = z.object({
  id,
  revision: z.int().min(1),
  name: z.string(),
  slug: z.string(),
  field_type: z.enum(FIELD_TYPES),
  default_value: z.unknown().optional(),
  config: fieldConfig.optional(),
  required: z.boolean(),
  required_on_creation: z.boolean(),
  sort_order: z.int(),
  created_at: instant,
  archived_at: instant.nullable(),
});

export type FieldType = (typeof FIELD_TYPES)[number];
export type FieldConfig = z.infer<typeof fieldConfig>;
export type CustomFieldDefinition = z.infer<typeof customFieldDefinition>;
