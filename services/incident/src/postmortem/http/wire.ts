import { boundedText, instant, recordedKey } from '@tocsin/schemas';
import { pageQuery, pagination, schemaReference } from '@tocsin/http';
import { LINE_BREAK } from '@tocsin/schemas/markdown';
import { z } from 'zod';
import { FOLLOW_UP_STATUSES } from '../../follow-ups/domain/follow-up.ts';
import { CUSTOMER_IMPACTS, POSTMORTEM_STATES } from '../../incidents/domain/incident-properties.ts';
import { RELATION_TYPES } from '../../relations/domain/relation.ts';
import { MOMENT_NAMES } from '../domain/moments.ts';
import { MAX_REPETITIONS } from '../../configuration/domain/postmortem-template.ts';
import { repeatedPlaceholder, WRITTEN_LIMITS } from '../domain/written.ts';

const id = z.int().min(1);
const count = z.int().min(0);
const seconds = count.nullable();
const text = (description: string) => z.string().meta({ description });

/** A key with its label of now. */
const labelled = (what: string) =>
  z
    .strictObject({
      key: text(`Key of the ${what}`),
      label: text(`Its label; of a key that is no longer configured, the key`),
    })
    .meta({ description: `The ${what}` });

const person = z
  .strictObject({
    id: id.nullable().meta({ description: 'ID of the user; null: none, but somebody of an import, or a system' }),
    name: text('Name of the user, or what is stored of somebody else'),
    api_key: recordedKey.nullable().meta({
      description: 'The API key, or session, that acted for the user; null: not known, or it says only who it is',
    }),
  })
  .meta({ id: 'PostmortemPerson' });

const moment = z.strictObject({
  name: z.enum(MOMENT_NAMES).meta({
    description: 'The property of the incident; `ended_at` is the last change into a terminal status, while it has one',
  }),
  label: text('Its name for people'),
  at: instant.meta({ description: 'When it was' }),
  seconds_since_previous: seconds.meta({ description: 'Whole seconds since the moment before; null: it is the first' }),
});

const change = z.strictObject({
  field: text('Name of the property; `custom_fields.<slug>` for a value'),
  label: text('Its name for people'),
  from: text('What it was, for people: with names and labels'),
  to: text('What it is, for people'),
});

const entry = z
  .strictObject({
    kind: z
      .enum(['timeline_event', 'change'])
      .meta({ description: 'A timeline event, or the changes of one revision' }),
    id: id.meta({ description: 'ID of the timeline event, or of the entry of the changelog' }),
    at: instant.meta({ description: 'When the event started, or the changes were made' }),
    ended_at: instant.nullable().meta({ description: 'When the event ended; null: not known, or a single moment' }),
    type: text('Type of the event; `change` for changes'),
    is_key: z.boolean().meta({ description: 'Whether it is a key event' }),
    author: schemaReference(person, 'Who wrote the event, or made the changes'),
    title: text('Heading of the event; empty: none'),
    body: text('What happened; empty for changes'),
    tags: z.array(z.string()).meta({ description: 'Tags of the event' }),
    changes: z.array(change).meta({ description: 'What was changed; empty for an event' }),
  })
  .meta({ id: 'PostmortemEntry' });

export type EntryWire = z.infer<typeof entry>;

const postmortem = z
  .strictObject({
    incident_id: id.meta({ description: 'ID of the incident' }),
    human_id: text('Reference of the incident for people'),
    revision: id.meta({ description: 'Revision of the incident that the document shows' }),
    generated_at: instant.meta({ description: 'When the document was made; it is not stored' }),
    time_zone: text('Name of the time zone, in the IANA database, of the moments in texts'),
    title: text('Title of the incident'),
    summary: text('What customers noticed; empty: not described'),
    status: labelled('status'),
    severity: labelled('severity'),
    customer_impact_status: z.enum(CUSTOMER_IMPACTS).meta({ description: 'Whether customers are affected' }),
    regions: z.array(z.string()).meta({ description: 'The affected regions' }),
    moments: z.array(moment).meta({ description: 'What is known of when it was, in the order of time' }),
    response_seconds: seconds.meta({ description: 'Time to response, as statistics measure it; null: unknown' }),
    recovery_seconds: seconds.meta({ description: 'Time to recovery, as statistics measure it; null: unknown' }),
    people: z
      .array(
        z.strictObject({
          role: z
            .enum(['incident_manager', 'responder', 'role_holder', 'declared_by'])
            .meta({ description: 'What the person did' }),
          label: text('Name of the role that the person had; only with `role_holder`').optional(),
          person: schemaReference(person, 'Who it is'),
        }),
      )
      .meta({ description: 'Who took part' }),
    team: z
      .strictObject({ id: id.meta({ description: 'ID of the team' }), name: text('Its name') })
      .nullable()
      .meta({ description: 'The team that owns the incident; null: none' }),
    services: z
      .array(
        z.strictObject({
          slug: text('Slug of the service in the catalog, or another text'),
          tier: z.string().nullable().meta({ description: 'Tier of the service; null: it is not in the catalog' }),
        }),
      )
      .meta({ description: 'The affected services' }),
    custom_fields: z
      .array(
        z.strictObject({
          slug: text('Slug of the field'),
          name: text('Its name'),
          text: text('The value for people: with the labels of options'),
        }),
      )
      .meta({ description: 'The values of custom fields, in the order of the fields' }),
    activity: z
      .array(entry)
      .meta({ description: 'Timeline events and changes by time; of many, the first and the last ones' }),
    relations: z
      .array(
        z.strictObject({
          type: z.enum(RELATION_TYPES).meta({ description: 'What the incident is to the other one' }),
          incident_id: id.meta({ description: 'ID of the other incident' }),
          human_id: text('Reference of the other incident'),
          title: text('Title of the other incident'),
          status: labelled('status of the other incident'),
        }),
      )
      .meta({ description: 'Related incidents' }),
    follow_ups: z
      .array(
        z.strictObject({
          id: id.meta({ description: 'ID of the follow-up' }),
          title: text('What is to be done'),
          status: z.enum(FOLLOW_UP_STATUSES).meta({ description: '`dropped`: it will not be done' }),
          owner: person.nullable().meta({ description: 'Who does it; null: nobody' }),
          due_on: z.string().nullable().meta({ description: 'The day until which it is to be done; null: none' }),
          external_url: text('URL of it in another system; empty: none'),
        }),
      )
      .meta({ description: 'What is left to do, by due date' }),
    links: z
      .array(
        z.strictObject({
          label: text('What it leads to'),
          url: text('The address'),
          summary: text('What it shows; empty: not said'),
          timeline_event_id: id
            .nullable()
            .meta({ description: 'ID of the event whose evidence it is; null: of the incident' }),
        }),
      )
      .meta({ description: 'Links of the incident, and evidence of the events in `activity`' }),
    attachments: z
      .array(
        z.strictObject({
          id: id.meta({ description: 'ID of the attachment' }),
          timeline_event_id: id.meta({ description: 'ID of its event, which has the URL' }),
          filename: text('Name of the file'),
          size_bytes: count.meta({ description: 'Size of the file in bytes' }),
        }),
      )
      .meta({ description: 'Files of the events in `activity`' }),
    left_out: z
      .strictObject({
        after: count.meta({
          description: 'Number of entries of `activity` behind which those that are left out belong',
        }),
        timeline_events: count.meta({ description: 'Number of events that are left out' }),
        changes: count.meta({ description: 'Number of entries of the changelog that are left out' }),
        attachments: count.meta({ description: 'Number of files that are left out' }),
      })
      .nullable()
      .meta({ description: 'What does not fit into the document; null: nothing is left out' }),
  })
  .meta({ id: 'Postmortem' });

export type PostmortemWire = z.infer<typeof postmortem>;

const { sections: maxSections, bytes: maxBytes, bodyBytes } = WRITTEN_LIMITS;
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

const section = z
  .strictObject({
    key: boundedText(WRITTEN_LIMITS.key).min(1).meta({ description: 'Names the section in the document; any text' }),
    title: boundedText(WRITTEN_LIMITS.title)
      .refine((title) => !LINE_BREAK.test(title), 'Must be one line')
      .meta({ description: 'Its heading, in one line; empty: none' }),
    body: boundedText(bodyBytes)
      .refine((body) => Buffer.byteLength(body) <= bodyBytes, `Must be at most ${bodyBytes} bytes`)
      .meta({
        description: `Markdown, at most ${bodyBytes} bytes, in which the placeholders of the template stand for live parts`,
      }),
  })
  .meta({ id: 'PostmortemSection' });

const sections = z.array(section);

/** Of requests, and of items of imports. */
export const sectionsInput = sections
  .max(maxSections)
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, 'Must not have a key twice')
  .refine((all) => bytesOf(all) <= maxBytes, `Must be at most ${maxBytes} bytes of JSON`)
  .refine(
    (all) => repeatedPlaceholder(all) === undefined,
    `Must not have a placeholder more than ${MAX_REPETITIONS} times`,
  );

const SECTIONS = `The whole list: at most ${maxSections}, and ${maxBytes} bytes of JSON`;
const state = z.enum(POSTMORTEM_STATES);
const who = (description: string) => z.string().nullable().meta({ description });
const key = (description: string) => recordedKey.nullable().meta({ description });

const version = {
  revision: id.meta({ description: 'Starts at 1 and increases with every change; a PATCH must send it' }),
  state: state.meta({ description: 'How far it is; any state may follow another' }),
  updated_at: instant.meta({ description: 'When it last changed' }),
  updated_by: z.string().meta({ description: 'ID, as text, of the user who changed it' }),
  updated_by_key: key('The API key, or session, that changed it for the user; null: not known'),
};
const shownSections = sections.meta({ description: 'Its sections, in their order' });

/** The document as people have written it; every property is always present. */
export const written = z
  .strictObject({
    incident_id: id.meta({ description: 'ID of the incident' }),
    ...version,
    sections: shownSections,
    created_at: instant.meta({ description: 'When it was begun' }),
    created_by: z.string().meta({ description: 'ID, as text, of the user who began it' }),
    created_by_key: key('The API key, or session, that began it for the user; null: not known'),
    in_review_at: instant
      .nullable()
      .meta({ description: 'When it last went into review; null: it is a draft, or never did' }),
    in_review_by: who('ID, as text, of the user who put it into review; null: nobody'),
    published_at: instant.nullable().meta({ description: 'When it was published; null: it is not' }),
    published_by: who('ID, as text, of the user who published it; null: nobody'),
  })
  .meta({ id: 'PostmortemDocument' });
export type WrittenWire = z.infer<typeof written>;

export const postmortemReply = z.strictObject({
  postmortem: schemaReference(postmortem, 'The parts of the document'),
  document: schemaReference(written, 'What people have written; null: nobody has begun').nullable(),
});

export const documentReply = z.strictObject({
  document: schemaReference(written, 'The document as it is after the request'),
});

export const newPostmortem = z
  .strictObject({
    sections: sectionsInput.optional().meta({ description: `${SECTIONS}; default: those of the workspace's template` }),
  })
  .meta({ id: 'NewPostmortem' });

export const postmortemPatch = z
  .strictObject({
    sections: sectionsInput.optional().meta({ description: SECTIONS }),
    state: state.optional().meta({ description: 'How far it is; any state may follow another' }),
  })
  .meta({ id: 'PostmortemPatch' });

const former = z.strictObject(version).meta({ id: 'FormerPostmortem' });
export type FormerWire = z.infer<typeof former>;

export const formerQuery = z.strictObject(pageQuery);
export const formerPage = z.strictObject({
  former: z.array(former).meta({ description: 'Former revisions, the latest first' }),
  pagination,
});
const formerDocument = z.strictObject({ ...version, sections: shownSections }).meta({ id: 'FormerPostmortemDocument' });

export const formerReply = z.strictObject({ former: schemaReference(formerDocument, 'The document as it was') });
