import { boundedText, instant } from '@tocsin/schemas';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { ON_CALL_FAILURES, ON_CALL_KINDS } from '../domain/on-call.ts';

/** What the API description says of the URLs that are accepted (ADR 82). */
const URL_PATTERN = String.raw`^[Hh][Tt][Tt][Pp][Ss]://[^\x00-\x20\x7F\\/?#@]+(?:[/?][^\x00-\x20\x7F\\#]*)?$`;

const person = z
  .strictObject({
    user_id: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: 'ID of the active user; null: it is not certain who it is' }),
    name: z.string().meta({ description: 'Name of the user; without a user, what the source says' }),
    email: z
      .string()
      .nullable()
      .meta({ description: 'E-mail address of the user; without a user, that in the source; null: none' }),
    from: instant.meta({ description: 'When this person begins' }),
    until: instant.meta({ description: 'When this person ends, at most eight weeks from the look' }),
  })
  .meta({ id: 'PersonOnCall' });

const failure = z
  .strictObject({
    reason: z.enum(ON_CALL_FAILURES).meta({
      description:
        '`address`: no public one; `content`: not what the kind has; `key`: no key opens the address; `status`: not 2xx; `too_complex`: takes too long to read',
    }),
    status: z.int().nullable().meta({ description: 'The HTTP status; null: there was none' }),
    since: instant.meta({ description: 'The first failure after the latest success' }),
  })
  .meta({ id: 'OnCallFailure' });

/** Who is on call for a team (contract: Catalog, On call). All properties are always present. */
const onCall = z
  .strictObject({
    source: z.enum(ON_CALL_KINDS).nullable().meta({ description: 'The kind of the source; null: the team has none' }),
    url: z.string().meta({ description: 'Scheme and host of the source; the rest is never shown; empty: none' }),
    schedule_id: z.string().nullable().meta({ description: 'ID of the schedule in PagerDuty; null: another kind' }),
    fetched_at: instant.nullable().meta({ description: 'When this was read from the source; null: never' }),
    failure: failure
      .nullable()
      .meta({ description: 'Why the source cannot be read, and so what was read before is shown; null: it can' }),
    now: z.array(person).meta({ description: 'Who is on call, at most 20; empty: nobody, or it is not known' }),
    next: z.array(person).meta({ description: 'Who begins next, at most 20; empty: nobody within eight weeks' }),
  })
  .meta({ id: 'OnCall' });

export type OnCallWire = z.infer<typeof onCall>;

export const onCallReply = z.strictObject({
  on_call: schemaReference(onCall, 'Who is on call, as it was read last'),
});

export const newOnCallSource = z
  .strictObject({
    kind: z.enum(ON_CALL_KINDS).meta({ description: 'An iCalendar document, or the API of PagerDuty' }),
    url: z.string().max(2048).optional().meta({
      format: 'uri',
      pattern: URL_PATTERN,
      description:
        'Absolute https URL of the calendar; for PagerDuty, that of its API, by default https://api.pagerduty.com. Only scheme and host are shown again',
    }),
    schedule_id: boundedText(64)
      .regex(/^[A-Za-z0-9]+$/)
      .optional()
      .meta({ description: 'ID of a schedule in PagerDuty; only of the kind `pagerduty`' }),
    credential: boundedText(256)
      .regex(/^[!-~]+$/)
      .optional()
      .meta({
        description:
          'Key of PagerDuty’s REST API, read-only is enough; only of the kind `pagerduty`; never shown again',
      }),
  })
  .meta({ id: 'NewOnCallSource' });
