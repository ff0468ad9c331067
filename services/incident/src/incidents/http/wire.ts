import { pageQuery, pagination, schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { instant, largeValue, recordedKey } from '@tocsin/schemas';
import {
  type InputOf,
  type Item,
  PATCHABLE,
  type Patchable,
  type SchemaOf,
  SHOWN,
  type Shown,
  type WireName,
} from '../domain/property-sets.ts';
import { id } from '../domain/property-kinds.ts';

/** The incident resource (contract: Incidents); every property is always present. */
export const incident = z
  .strictObject(
    Object.fromEntries(SHOWN.map(({ name, schema, description }) => [name, schema.meta({ description })])) as {
      [Each in Shown as WireName<Each>]: SchemaOf<Each>;
    },
  )
  .meta({ id: 'Incident' });

export type IncidentWire = z.infer<typeof incident>;

export const incidentReply = z.strictObject({ incident: schemaReference(incident, 'The incident as it is now') });

/** A read may ask for an earlier revision. */
export const incidentQuery = z.strictObject({
  at_revision: id.optional().meta({
    description: 'An earlier revision: the incident as it was then, by its changelog; default: as it is now',
  }),
});

export const readReply = z.strictObject({
  incident: schemaReference(incident, 'The incident as it is now, or was at `at_revision`'),
  not_recorded: z.array(z.string()).optional().meta({
    description:
      'With `at_revision`: properties, and `custom_fields.` with slugs, that are as they are now, or follow from such, because the changelog does not have what they were; absent otherwise',
  }),
});

/** The incident in the response to a write. */
export const changedIncident = schemaReference(incident, 'The complete incident after the operation');

/** These properties in a request that may omit each. */
export const optionalInputs = <Each extends Patchable>(items: readonly Item<Each>[]) =>
  Object.fromEntries(
    items.map(({ name, input, description, inputDescription }) => [
      name,
      input?.optional().meta({ description: inputDescription ?? description }),
    ]),
  ) as { [Name in Each as WireName<Name>]: z.ZodOptional<InputOf<Name>> };

const { severity_mode, ...properties } = optionalInputs(PATCHABLE);

export const incidentPatch = z.strictObject({ ...properties, severity_mode }).meta({ id: 'IncidentPatch' });
export type IncidentPatch = z.infer<typeof incidentPatch>;

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
    api_key: recordedKey.nullable().meta({
      description:
        'The API key, or session, with which the user made the changes; null for `slack` and for older entries',
    }),
    changed_at: instant.meta({ description: 'When the changes were made' }),
    changes: z
      .array(
        z.strictObject({
          field: z.string().meta({
            description:
              'The changed property; `custom_fields.` and its slug for a custom field, `roles.` and its key for a role, `relations.` and its type for a relation; `timeline_events.` and `follow_ups.` with the ID, and the property if it existed before and after',
          }),
          from: changedValue.meta({ description: 'The value before; null if there was none' }),
          to: changedValue.meta({ description: 'The value after; null if there is none any more' }),
        }),
      )
      .meta({
        description:
          'One item for each changed property, in the order of the properties of an incident; empty: an import created the incident, or changed only its timeline, its follow-ups or its earlier changes',
      }),
    imported: z.boolean().meta({
      description: 'Whether an import brought it: the change was made in another system, by whom that says',
    }),
  })
  .meta({ id: 'ChangelogEntry' });

export type ChangelogEntryWire = z.infer<typeof changelogEntry>;

export const changelogQuery = z.strictObject({
  ...pageQuery,
  order: z
    .enum(['asc', 'desc'])
    .optional()
    .meta({ description: 'The order by ID: the oldest or the newest first; default: desc', default: 'desc' }),
  new_events: z.boolean().optional().meta({
    description: 'Whether to list entries that only say that timeline events were added; default: true',
    default: true,
  }),
});

export const changelogPage = z.strictObject({
  changelog: z.array(changelogEntry).meta({ description: 'The entries of the page, in the order of the request' }),
  pagination,
});

const access = z
  .strictObject({
    user_id: id.meta({ description: 'ID of the user who read it' }),
    api_key: recordedKey.nullable().meta({ description: 'The API key, or session, that was used; null: not known' }),
    first_at: instant.meta({ description: 'When the user first read it in this hour (UTC) with this key' }),
    last_at: instant.meta({ description: 'When the user last did so' }),
    count: z.int().min(1).meta({ description: 'How many requests of the user read it in this hour with this key' }),
  })
  .meta({ id: 'IncidentAccess' });

export type AccessWire = z.infer<typeof access>;

export const accessPage = z.strictObject({
  accesses: z.array(access).meta({ description: 'An entry for each user, key and hour, the latest first' }),
  pagination,
});
