import { FIELD_TYPES, instant } from '@tocsin/contracts';
import { z } from 'zod';

const id = z.int().min(1);
const value = z.unknown().nonoptional('Must be given; null for none');

/** At creation: values of some fields, each by the field's ID. */
export const newValues = z.array(z.strictObject({ field_id: id, value }));

const givenValue = z
  .strictObject({ field_id: id.optional(), slug: z.string().min(1).optional(), value })
  .refine((given) => given.field_id !== undefined || given.slug !== undefined, {
    path: ['field_id'],
    message: 'Give field_id or slug',
  })
  .refine((given) => given.field_id === undefined || given.slug === undefined, {
    path: ['slug'],
    message: 'Give field_id or slug, not both',
  })
  .meta({ id: 'CustomFieldValueChange', description: 'Of `field_id` and `slug` one; a null `value` unsets' });

export const valuesPatch = z
  .strictObject({ values: z.array(givenValue).min(1) })
  .meta({ id: 'CustomFieldValuesPatch' });

/** A value on an incident (contract: Custom fields). */
export const customFieldValue = z
  .strictObject({
    field_id: id,
    slug: z.string(),
    name: z.string(),
    field_type: z.enum(FIELD_TYPES),
    value,
    updated_at: instant,
    updated_by: z.string(),
  })
  .meta({ id: 'CustomFieldValue' });

export type CustomFieldValueWire = z.infer<typeof customFieldValue>;

export const valuesReply = z.strictObject({ values: z.array(customFieldValue) });
