import { instant, largeValue } from '@tocsin/contracts';
import { pagination } from '@tocsin/http';
import { z } from 'zod';
import { id } from '../domain/property-kinds.ts';

const changedValue = z.union([
  largeValue.meta({ ...largeValue.meta(), id: 'LargeValue' }),
  z.unknown().meta({ description: 'The value itself, if it is not large' }),
]);

const changelogEntry = z
  .strictObject({
    id: id.meta({ description: 'Identifies the entry; later entries have larger IDs' }),
    incident_id: id.meta({ description: 'ID of the incident' }),
    revision: id.meta({ description: "The incident's revision after the changes" }),
    actor: z.string().meta({ description: 'Who made the changes: the ID of a user as text, or `slack`' }),
    api_key: z
      .strictObject({
        name: z.string().meta({ description: 'Its name at that time' }),
        prefix: z.string().meta({ description: 'The first characters of its token' }),
      })
      .nullable()
      .meta({
        description: 'The API key with which the user made the changes; null for `slack` and for older entries',
      }),
    changed_at: instant.meta({ description: 'When the changes were made' }),
    changes: z
      .array(
        z.strictObject({
          field: z
            .string()
            .meta({ description: 'The changed property; `custom_fields.` and its slug for a custom field' }),
          from: changedValue.meta({ description: 'The value before; null if a custom field had none' }),
          to: changedValue.meta({ description: 'The value after; null if a custom field has none any more' }),
        }),
      )
      .meta({ description: 'One item for each changed property, in the order of the properties of an incident' }),
  })
  .meta({ id: 'ChangelogEntry' });

export type ChangelogEntryWire = z.infer<typeof changelogEntry>;

export const changelogPage = z.strictObject({
  changelog: z.array(changelogEntry).meta({ description: 'The entries of the page, the newest first' }),
  pagination,
});
