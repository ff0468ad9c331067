import {
  boundedText,
  externalIdText,
  FIELD_TYPES,
  fieldConfig,
  fieldConfigInput,
  instant,
  nameText,
  shownText,
} from '@tocsin/schemas';
import { pagination, schemaReference } from '@tocsin/http';
import { isSlug, MAX_SLUG_BYTES, withDefaults } from '@tocsin/versioned-resources';
import { z } from 'zod';
import { CATEGORIES, FIELD_SLUG, VISIBILITY_LEVELS } from '../domain/field.ts';

const id = z.int().min(1);
const description = 'Validation options; which of them a field takes depends on its type';
const config = fieldConfig.meta({ id: 'CustomFieldConfig', description });
const configInput = fieldConfigInput.meta({ id: 'NewCustomFieldConfig', description });

/** A definition (contract: Custom fields). Properties without a value are absent. */
const field = z
  .strictObject({
    id: id.meta({ description: 'Identifies the field in paths and values; unique in the installation' }),
    revision: id.meta({ description: 'Starts at 1 and increases with every change; a PATCH must send it' }),
    company_id: id.meta({ description: 'ID of the workspace' }),
    name: z.string().meta({ description: 'The name for people' }),
    slug: z
      .string()
      .meta({ description: 'Names the field in custom_fields of incidents, in filters and in sorts; never changes' }),
    field_type: z.enum(FIELD_TYPES).meta({ description: 'The form of its values; never changes' }),
    description: z.string().optional().meta({ description: 'What the field is for; absent without one' }),
    default_value: z
      .unknown()
      .optional()
      .meta({ description: 'The value of a new incident whose request has none for the field; absent without one' }),
    config: schemaReference(config, 'Rules for the values; absent without any').optional(),
    required: z
      .boolean()
      .meta({ description: 'Whether an incident that has a value must keep one: it can be changed, not removed' }),
    sort_order: z
      .int()
      .meta({ description: 'Place in lists: lower comes first, then the older; a new field gets the highest' }),
    category: z
      .enum(CATEGORIES)
      .meta({ description: 'What the field is about, for user interfaces; `external`: another system has its values' }),
    visibility_level: z
      .enum(VISIBILITY_LEVELS)
      .meta({ description: 'How prominently user interfaces should show it; the API shows all alike' }),
    show_on_creation: z
      .boolean()
      .meta({ description: 'Whether user interfaces should ask for a value when an incident is created' }),
    required_on_creation: z
      .boolean()
      .meta({ description: 'Whether a request that creates an incident must have a value' }),
    auto_add_to_layout: z
      .boolean()
      .meta({ description: 'Whether user interfaces should add the field to their layouts by themselves' }),
    external_source: z
      .string()
      .optional()
      .meta({ description: 'Where the values come from; only present with category `external`' }),
    external_id: z
      .string()
      .optional()
      .meta({ description: 'ID of the field in another system, unique in the workspace; absent without one' }),
    archived_at: instant.optional().meta({ description: 'When the field was archived; absent while it is active' }),
    created_at: instant.meta({ description: 'When the field was created' }),
    updated_at: instant.meta({ description: 'When the field was last changed, archived or restored' }),
  })
  .meta({ id: 'CustomField' });

export type FieldWire = z.infer<typeof field>;

export const fieldReply = z.strictObject({
  field: schemaReference(field, 'The definition as it is after the request'),
});
export const fieldPage = z.strictObject({
  fields: z.array(field).meta({ description: 'The definitions of the page, by sort_order, then by age' }),
  pagination,
});

const name = nameText(64).meta({ description: 'A name for people; 1 to 64 characters after trimming' });
const SLUG_FORM = 'Must be a letter from a to z and then such letters, digits, hyphens or underscores, at most 64';

/** What a create and a PATCH have in common; the create adds its defaults. */
const properties = {
  description: boundedText(10_000).nullable().optional().meta({ description: 'What the field is for; null: none' }),
  default_value: z.unknown().optional().meta({
    description:
      'The value of a new incident whose request has none for the field; it must fit type and config; null: none',
  }),
  config: z
    .union([configInput, z.null()])
    .optional()
    .meta({ description: 'Rules for the values, which replace the earlier ones as a whole; null: none' }),
  required: z
    .boolean()
    .optional()
    .meta({ description: 'Whether an incident that has a value must keep one: it can be changed, not removed' }),
  category: z
    .enum(CATEGORIES)
    .optional()
    .meta({ description: 'What the field is about, for user interfaces; `external` requires external_source' }),
  visibility_level: z
    .enum(VISIBILITY_LEVELS)
    .optional()
    .meta({ description: 'How prominently user interfaces should show it; the API shows all alike' }),
  show_on_creation: z
    .boolean()
    .optional()
    .meta({ description: 'Whether user interfaces should ask for a value when an incident is created' }),
  required_on_creation: z.boolean().optional().meta({
    description: 'Whether a request that creates an incident must have a value; true requires show_on_creation',
  }),
  auto_add_to_layout: z
    .boolean()
    .optional()
    .meta({ description: 'Whether user interfaces should add the field to their layouts by themselves' }),
  external_id: externalIdText().nullable().optional().meta({
    description:
      'ID of the field in another system, trimmed; no other field of the workspace, archived ones included, may have it; null: none',
  }),
  external_source: shownText(boundedText(2048))
    .nullable()
    .optional()
    .meta({ description: 'Where the values come from: required with category `external`, otherwise null or absent' }),
};

export const newField = z
  .strictObject({
    name,
    slug: z
      .string()
      .max(MAX_SLUG_BYTES, { error: SLUG_FORM, abort: true })
      .refine((value) => isSlug(value, FIELD_SLUG), SLUG_FORM)
      .optional()
      .meta({
        minLength: 1,
        pattern: FIELD_SLUG.pattern.source,
        description:
          'Permanent: a letter from a to z and then such letters, digits, hyphens or underscores, at most 64; made from the name unless given',
      }),
    field_type: z.enum(FIELD_TYPES).meta({ description: 'The form of the values; it cannot be changed later' }),
    ...withDefaults(properties, {
      description: null,
      default_value: null,
      required: false,
      category: 'custom',
      visibility_level: 'standard',
      show_on_creation: false,
      required_on_creation: false,
      auto_add_to_layout: false,
      external_source: null,
      external_id: null,
    }),
    config: properties.config.meta({
      description:
        'Rules for the values; a `select` or `multi_select` field needs options or allow_custom; default: none',
      default: null,
    }),
  })
  .meta({ id: 'NewCustomField' });

export const fieldPatch = z
  .strictObject({
    name: name.optional(),
    ...properties,
    sort_order: z
      .int()
      .min(-2_147_483_648)
      .max(2_147_483_647)
      .optional()
      .meta({ description: 'Place in lists: lower comes first, then the older' }),
  })
  .meta({ id: 'CustomFieldPatch' });
