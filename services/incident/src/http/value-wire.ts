import { boundedText, FIELD_TYPES, instant, MAX_KEY, MAX_VALUES } from '@tocsin/contracts';
import { z } from 'zod';

const id = z.int().min(1);
const value = z.unknown().nonoptional('Is required; null for none');

/** The values of a new incident, by the fields' IDs. */
export const newValues = z.array(z.strictObject({ field_id: id, value })).max(MAX_VALUES);

const valueInput = z
  .strictObject({ field_id: id.optional(), slug: boundedText(MAX_KEY).min(1).optional(), value })
  .refine((input) => input.field_id !== undefined || input.slug !== undefined, {
    path: ['field_id'],
    message: 'Is required unless slug is given',
  })
  .refine((input) => input.field_id === undefined || input.slug === undefined, {
    path: ['slug'],
    message: 'Must not be given together with field_id',
  })
  .meta({
    id: 'CustomFieldValueChange',
    description: 'Requires either `field_id` or `slug`; a null `value` unsets the field',
  });

export const valuesPatch = z
  .strictObject({ values: z.array(valueInput).min(1).max(MAX_VALUES) })
  .meta({ id: 'CustomFieldValuesPatch' });

/** A value of an incident (contract: Custom fields). */
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
