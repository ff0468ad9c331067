import { boundedText, FIELD_TYPES, instant, MAX_KEY, MAX_VALUES } from '@tocsin/schemas';
import { z } from 'zod';

const id = z.int().min(1);
const value = z.unknown().nonoptional('Is required; null for none');
const newValue = value.meta({
  description: "A value of the field's type; null for none, which a required field refuses",
});

/** The values of a new incident, by the fields' IDs. */
export const newValues = z
  .array(z.strictObject({ field_id: id.meta({ description: 'ID of an active custom field' }), value: newValue }))
  .max(MAX_VALUES);

const valueInput = z
  .strictObject({
    field_id: id.optional().meta({ description: 'ID of an active custom field; instead of slug' }),
    slug: boundedText(MAX_KEY)
      .min(1)
      .optional()
      .meta({ description: 'Slug of an active custom field; instead of field_id' }),
    value: newValue,
  })
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
    minProperties: 2,
    maxProperties: 2,
    description: 'Requires either `field_id` or `slug`; a null `value` unsets the field',
  });

export const valuesPatch = z
  .strictObject({
    values: z
      .array(valueInput)
      .min(1)
      .max(MAX_VALUES)
      .meta({ description: 'The values to set or unset, all or none of them; other fields keep theirs' }),
  })
  .meta({ id: 'CustomFieldValuesPatch' });

/** A value of an incident (contract: Custom fields). */
export const customFieldValue = z
  .strictObject({
    field_id: id.meta({ description: 'ID of the custom field' }),
    slug: z.string().meta({ description: 'Slug of the field, which names the value in custom_fields of the incident' }),
    name: z.string().meta({ description: 'Current name of the field' }),
    field_type: z.enum(FIELD_TYPES).meta({ description: 'Type of the field, which decides the form of the value' }),
    value: value.meta({ description: 'The value, equal to what was written' }),
    updated_at: instant.meta({ description: 'When the value was last set' }),
    updated_by: z.string().meta({ description: 'ID, as text, of the user who last set the value' }),
  })
  .meta({ id: 'CustomFieldValue' });

export type CustomFieldValueWire = z.infer<typeof customFieldValue>;

export const valuesReply = z.strictObject({
  values: z
    .array(customFieldValue)
    .meta({ description: 'All values of the incident, in the order of the fields; fields without a value are absent' }),
});
