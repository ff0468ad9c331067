import { FIELD_TYPES, fieldConfig, instant } from '@tocsin/contracts';
import { pagination } from '@tocsin/http';
import { z } from 'zod';
import { CATEGORIES, VISIBILITY_LEVELS } from '../domain/field.ts';
import { isSlug } from '../domain/slug.ts';

const id = z.int().min(1);
const config = fieldConfig.meta({
  id: 'CustomFieldConfig',
  description: 'Validation options; which of them a field takes depends on its type',
});
const lengthOf = (value: string) => [...value].length;

/** The definition resource (contract: Custom fields). */
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

const name = z
  .string()
  .refine((value) => value.trim() !== '', 'Must not be blank')
  .refine((value) => lengthOf(value.trim()) <= 64, 'Must be at most 64 characters');

const properties = {
  description: z
    .string()
    .refine((value) => lengthOf(value) <= 10_000, 'Must be at most 10000 characters')
    .nullable()
    .optional(),
  default_value: z.unknown().optional(),
  config: z.union([config, z.null()]).optional(),
  required: z.boolean().optional(),
  category: z.enum(CATEGORIES).optional(),
  visibility_level: z.enum(VISIBILITY_LEVELS).optional(),
  show_on_creation: z.boolean().optional(),
  required_on_creation: z.boolean().optional(),
  auto_add_to_layout: z.boolean().optional(),
  external_source: z
    .string()
    .refine((value) => value.trim() !== '', 'Must not be blank')
    .refine((value) => lengthOf(value) <= 2048, 'Must be at most 2048 characters')
    .nullable()
    .optional(),
};

export const newField = z
  .strictObject({
    name,
    slug: z
      .string()
      .refine(
        isSlug,
        'Must start with a letter from a to z, then have only such letters, digits, - or _, at most 64 in all',
      )
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
