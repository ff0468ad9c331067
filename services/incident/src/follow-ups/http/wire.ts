import {
  boundedText,
  composedText,
  dateText,
  instant,
  MAX_SEARCHED_TEXT,
  nameText,
  recordedKey,
} from '@tocsin/schemas';
import { pageQuery, pagination, schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { id, person, webAddress } from '../../incidents/domain/property-kinds.ts';
import { FOLLOW_UP_LIMITS, FOLLOW_UP_STATUSES } from '../domain/follow-up.ts';
import { TICKET_STATES, TICKET_STATUSES } from '../domain/ticket.ts';

const status = z.enum(FOLLOW_UP_STATUSES);

/** contract: Trackers */
const ticket = z
  .strictObject({
    tracker_id: id.meta({ description: 'ID of the tracker' }),
    status: z.enum(TICKET_STATUSES).meta({
      description: '`pending`: it is being made; `linked`: it exists; `failed`: it is made only when asked for again',
    }),
    key: z.string().nullable().meta({ description: 'What the tracker calls it; null: it does not exist yet' }),
    url: z.string().nullable().meta({ description: 'Its page; null: it does not exist yet' }),
    state: z
      .enum(TICKET_STATES)
      .nullable()
      .meta({ description: 'The state in which both last agreed; null: it does not exist yet' }),
    failure: z
      .strictObject({
        reason: z.string().meta({
          description:
            'What has failed, from a fixed list: `denied`, `rate_limited`, `gone`, `no_transition`, `archived`, `timeout` and others',
        }),
        status: z.int().nullable().meta({ description: 'The HTTP status of the answer; null: there was none' }),
        at: instant.meta({ description: 'When it was' }),
      })
      .nullable()
      .meta({ description: 'Why follow-up and ticket may differ; null: nothing has failed since they last agreed' }),
  })
  .meta({ id: 'Ticket' });

/** The follow-up resource (contract: Follow-ups); every property is always present. */
const followUp = z
  .strictObject({
    id: id.meta({ description: 'Identifies the follow-up in paths; unique in the installation' }),
    revision: id.meta({ description: 'Starts at 1 and increases with every change; a PATCH must send it' }),
    incident_id: id.meta({ description: 'ID of the incident' }),
    title: z.string().meta({ description: 'What is to be done, in one line' }),
    description: z.string().meta({ description: 'More about it, in any number of lines; empty: nothing' }),
    owner: z.string().meta({
      description: 'ID, as text, of the user who does it, or a name that an import has kept; empty: nobody',
    }),
    due_on: z.string().nullable().meta({ description: 'The day until which it is to be done; null: none' }),
    status: status.meta({ description: '`dropped`: it will not be done' }),
    external_url: z.string().meta({ description: 'URL of it in another system, such as a ticket; empty: none' }),
    created_at: instant.meta({ description: 'When it was created' }),
    created_by: z.string().meta({ description: 'ID, as text, of the user whose API key created it' }),
    created_by_key: recordedKey
      .nullable()
      .meta({ description: 'The API key, or session, that created it for the user; null: not known' }),
    completed_at: instant.nullable().meta({ description: 'When its status became `done`; null: it is not' }),
    updated_at: instant.meta({ description: 'When it last changed' }),
    ticket: ticket.nullable().meta({
      description: 'Its ticket in a tracker, which changes without a revision; null: none',
    }),
  })
  .meta({ id: 'FollowUp' });
export type FollowUpWire = z.infer<typeof followUp>;

export const followUpReply = z.strictObject({
  follow_up: schemaReference(followUp, 'The follow-up as it is after the request'),
});

export const followUpPage = z.strictObject({
  follow_ups: z
    .array(followUp)
    .meta({ description: 'The follow-ups of the page, by due date and ID; none comes last' }),
  pagination,
});

export const followUpQuery = z.strictObject({
  ...pageQuery,
  status: z.array(status).max(10).optional().meta({ description: 'Statuses; default: any' }),
  owner: person.min(1).optional().meta({ description: 'Exactly this owner, such as the ID of a user; default: any' }),
  incident_id: id.optional().meta({ description: 'ID of an incident; an unknown one matches nothing; default: any' }),
  service: composedText(128).min(1).optional().meta({
    description: 'Exactly this service of the incident, a slug or another text; default: any',
  }),
  team_id: id.optional().meta({ description: 'ID of the team of the incident; default: any' }),
  due_before: dateText().optional().meta({ description: 'Follow-ups that are due on an earlier day; default: any' }),
  q: boundedText(MAX_SEARCHED_TEXT).optional().meta({
    description: 'Text that occurs in title or description, in any case of letters; default: all follow-ups',
  }),
});

/** What requests may set. An import sets other people, too. */
export const followUpInput = {
  title: nameText(FOLLOW_UP_LIMITS.title).meta({
    description: 'What is to be done, in one line; 1 to 255 characters after trimming',
  }),
  description: boundedText(FOLLOW_UP_LIMITS.description)
    .optional()
    .meta({ description: 'More about it, in any number of lines' }),
  due_on: dateText().nullable().optional().meta({ description: 'The day until which it is to be done; null: none' }),
  status: status.optional().meta({ description: '`dropped`: it will not be done' }),
  external_url: webAddress('external_url')
    .input.optional()
    .meta({ description: 'URL of it in another system, such as a ticket; empty: none' }),
};

const owner = person
  .optional()
  .meta({ description: 'ID, as text, of an active user who does it, or what is stored; empty: nobody' });

export const newFollowUp = z
  .strictObject({
    ...followUpInput,
    owner: owner.meta({ default: '' }),
    description: followUpInput.description.meta({ default: '' }),
    due_on: followUpInput.due_on.meta({ default: null }),
    status: followUpInput.status.meta({ default: 'open' }),
    external_url: followUpInput.external_url.meta({ default: '' }),
  })
  .meta({ id: 'NewFollowUp' });

export const followUpPatch = z
  .strictObject({ ...followUpInput, title: followUpInput.title.optional(), owner })
  .meta({ id: 'FollowUpPatch' });
export type FollowUpPatch = z.infer<typeof followUpPatch>;
