import { boundedText, instant, nameText, uniqueList } from '@tocsin/schemas';
import { schemaReference } from '@tocsin/http';
import { CALLED_STATUSES } from '@tocsin/safe-http';
import { z } from 'zod';
import { id } from '../../incidents/domain/property-kinds.ts';
import { KINDS } from '../domain/tracker.ts';

const MAX_NAME = 128;
/** Values of one filter. */
const MAX_VALUES = 100;

const unique = <Value extends z.ZodType>(value: Value) => uniqueList(value, MAX_VALUES);
const keys = unique(boundedText(128).min(1));

const autoFilters = z
  .strictObject({
    severities: keys.optional().meta({ description: 'Keys of severities', default: [] }),
    services: keys.optional().meta({ description: 'Slugs of services', default: [] }),
    team_ids: unique(z.int().min(1)).optional().meta({
      description: 'IDs of teams: of the incident, or of the owner of its service',
      default: [],
    }),
  })
  .meta({ id: 'TrackerFilters' });

const filtersText =
  'Of which incidents each new follow-up gets a ticket: those that meet all filters; an empty list selects all; null: tickets are only made by hand';

const kind = z.enum(KINDS);

/** A tracker (contract: Trackers). All properties are always present. */
const tracker = z
  .strictObject({
    id: id.meta({ description: 'ID of the tracker' }),
    revision: id.meta({ description: 'Starts at 1 and increases with every change; a PATCH must send it' }),
    name: z.string().meta({ description: 'What its users call it; unique among those that are not archived' }),
    kind: kind.meta({ description: 'What it is' }),
    url: z.string().meta({ description: 'Scheme and host; the rest is never shown' }),
    project: z.string().meta({ description: 'In which tickets are made' }),
    issue_type: z.string().meta({ description: 'Of tickets of Jira; empty: the kind has none' }),
    auto_filters: autoFilters.nullable().meta({ description: filtersText }),
    include_restricted: z
      .boolean()
      .meta({ description: 'Whether follow-ups of restricted incidents get tickets, too' }),
    webhook_path: z
      .string()
      .meta({ description: 'Where the tracker sends its webhooks, at the host of the workspace' }),
    status: z.enum(CALLED_STATUSES).meta({
      description: '`failing`: it does not answer as it should, and is asked again; `paused`: it is not asked',
    }),
    last_success_at: instant
      .nullable()
      .meta({ description: 'When it last did what was asked, to a minute; null: never' }),
    last_failure: z
      .strictObject({
        at: instant.meta({ description: 'When it was' }),
        reason: z.string().meta({ description: 'What has failed, from a fixed list, such as `denied` or `timeout`' }),
        status: z.int().nullable().meta({ description: 'The HTTP status of the answer; null: there was none' }),
      })
      .nullable()
      .meta({ description: 'The latest failure of the tracker as a whole; null: there was none' }),
    retry_at: instant
      .nullable()
      .meta({ description: 'From when on a failing one is asked again; null: it is not failing' }),
    created_at: instant.meta({ description: 'When it was created' }),
    updated_at: instant.meta({ description: 'When its settings last changed' }),
    archived_at: instant.nullable().meta({ description: 'When it was archived; null: it is not' }),
  })
  .meta({ id: 'Tracker' });

export type TrackerWire = z.infer<typeof tracker>;

const current = schemaReference(tracker, 'The tracker as it is after the request');

export const trackerReply = z.strictObject({ tracker: current });

export const newTrackerReply = z.strictObject({
  tracker: current,
  secret: z.string().meta({ description: "The secret of the tracker's webhook; it is not shown again" }),
});

export const trackerList = z.strictObject({
  trackers: z.array(tracker).meta({ description: 'All that are not archived, oldest first: 20 at most' }),
});

export const ticketTrackerList = z.strictObject({
  trackers: z
    .array(
      z
        .strictObject({
          id: id.meta({ description: 'ID of the tracker' }),
          name: z.string().meta({ description: 'What its users call it' }),
          kind: kind.meta({ description: 'What it is' }),
          include_restricted: z
            .boolean()
            .meta({ description: 'Whether follow-ups of restricted incidents get tickets, too' }),
        })
        .meta({ id: 'TicketTracker' }),
    )
    .meta({ description: 'Those that are neither paused nor archived, oldest first: 20 at most' }),
});

const settings = {
  url: boundedText(2048).min(1).meta({
    format: 'uri',
    description:
      'Absolute https URL of Jira Cloud, such as `https://acme.atlassian.net`, or of an own GitLab or the API of an own GitHub; default: that of the cloud. It is never shown again',
  }),
  credential: boundedText(1024)
    .min(1)
    .regex(/^[\x21-\x7E]+$/, 'Must have visible ASCII characters without spaces')
    .meta({
      description: 'The access token, of Jira Cloud as `email:token`; never shown again',
    }),
  project: boundedText(512).min(1).meta({
    description:
      'Where tickets are made: `owner/name` of a repository of GitHub, the key of a project of Jira, `group/name` of a project of GitLab, or the key of a team of Linear',
  }),
  issue_type: boundedText(64).meta({ description: 'Name of the type of tickets of Jira; default: `Task`' }),
  auto_filters: schemaReference(autoFilters, filtersText).nullable(),
  include_restricted: z.boolean().meta({
    description:
      'Whether follow-ups of restricted incidents get tickets, too: true needs the scope `restricted:read` and the permission `view_restricted`, as do later changes other than pause and archive. Whoever reads the tickets sees them',
  }),
};

const name = nameText(MAX_NAME).meta({
  description: 'A name, unique among the trackers that are not archived; trimmed',
});

export const newTracker = z
  .strictObject({
    name,
    kind: kind.meta({ description: 'What it is; it does not change' }),
    url: settings.url.optional(),
    credential: settings.credential,
    project: settings.project,
    issue_type: settings.issue_type.optional(),
    auto_filters: settings.auto_filters.optional(),
    include_restricted: settings.include_restricted.optional(),
  })
  .meta({ id: 'NewTracker' });

export const trackerPatch = z
  .strictObject({
    name: name.optional(),
    url: settings.url.optional(),
    credential: settings.credential.optional(),
    project: settings.project.optional(),
    issue_type: settings.issue_type.optional(),
    auto_filters: settings.auto_filters.optional(),
    include_restricted: settings.include_restricted.optional(),
  })
  .meta({ id: 'TrackerPatch' });

export const testReply = z
  .strictObject({
    test: z
      .strictObject({
        is_accepted: z.boolean().meta({ description: 'Whether the tracker knows the project' }),
        reason: z.string().nullable().meta({ description: 'Why not, from a fixed list; null: it does' }),
        status: z.int().nullable().meta({ description: 'The HTTP status of the refusal; null: there was none' }),
      })
      .meta({ description: 'What came of the test' }),
  })
  .meta({ id: 'TrackerTest' });

export const newTicketBody = z
  .strictObject({ tracker_id: id.meta({ description: 'ID of the tracker in which it is made' }) })
  .meta({ id: 'NewTicket' });
