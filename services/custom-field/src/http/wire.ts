import { boundedText, FIELD_TYPES, fieldConfig, fieldConfigInput, instant, nameText } from '@tocsin/contracts';
import { pagination } from '@tocsin/http';
import { isSlug, MAX_SLUG_BYTES } from '@tocsin/resources';
import { z } from 'zod';
import { CATEGORIES, VISIBILITY_LEVELS } from '../domain/field.ts';
import { FIELD_SLUG } from '../domain/slug-rule.ts';

const id = z.int().min(1);
const description = 'Validation options; which of them a field takes depends on its type';
const config = fieldConfig.meta({ id: 'CustomFieldConfig', description });
const configInput = fieldConfigInput.meta({ id: 'NewCustomFieldConfig', description });

/** A definition (contract: Custom fields). Properties without a value are absent. */
export const field = z
  .strictObject({
    id,
    revision: id,
    company_id: id,
    name: z.string(),
    slug: z.string(),
    field_type: z.enum(FIELD_TYPES),
    description: z.string().optional(),
    default_value: z.unknown().optional(),
    config: config.optional(),
    required: z.boolean(),
    sort_order: z.int(),
    category: z.enum(CATEGORIES),
    visibility_level: z.enum(VISIBILITY_LEVELS),
    show_on_creation: z.boolean(),
    required_on_creation: z.boolean(),
    auto_add_to_layout: z.boolean(),
    external_source: z.string().optional(),
    archived_at: instant.optional(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'CustomField' });

export type FieldWire = z.infer<typeof field>;

export const fieldReply = z.strictObject({ field });
export const fieldPage = z.strictObject({ fields: z.array(field), pagination });

const name = nameText(64);
const SLUG_FORM = 'Must be a letter from a to z and then such letters, digits, hyphens or underscores, at most 64';

const properties = {
  description: boundedText(10_000).nullable().optional(),
  default_value: z.unknown().optional(),
  config: z.union([configInput, z.null()]).optional(),
  required: z.boolean().optional(),
  category: z.enum(CATEGORIES).optional(),
  visibility_level: z.enum(VISIBILITY_LEVELS).optional(),
  show_on_creation: z.boolean().optional(),
  required_on_creation: z.boolean().optional(),
  auto_add_to_layout: z.boolean().optional(),
  external_source: boundedText(2048)
    .refine((value) => value.trim() !== '', 'Must not be blank')
    .nullable()
    .optional(),
};

export const newField = z
  .strictObject({
    name,
    slug: z
      .string()
      .max(MAX_SLUG_BYTES, { error: SLUG_FORM, abort: true })
      .refine((value) => isSlug(value, FIELD_SLUG), SLUG_FORM)
      .optional(),
    field_type: z.enum(FIELD_TYPES),
    ...properties,
  })
  .meta({ id: 'NewCustomField' });

export const fieldPatch = z
  .strictObject({
    name: name.optional(),
    ...properties,
    sort_order: z.int().min(-2_147_483_648).max(2_147_483_647).optional(),
  })
  .meta({ id: 'CustomFieldPatch' });
