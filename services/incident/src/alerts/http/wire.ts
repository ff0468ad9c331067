import { boundedText, composedText, instant, nameText, timestampInput } from '@tocsin/schemas';
import { pageQuery, pagination } from '@tocsin/http';
import { z } from 'zod';
import { id } from '../../incidents/domain/property-kinds.ts';
import { FORMATS, KEPT, MAX_ALERTS, MAX_LEFT_OUT } from '../domain/alert.ts';
import { OUTCOMES } from '../domain/decision.ts';
import { MAX_HEARTBEATS } from '../store/heartbeat-store.ts';

const incident = z
  .strictObject({
    id: id.meta({ description: 'ID of the incident' }),
    human_id: z.string().meta({ description: 'Its reference for people' }),
  })
  .nullable();

const count = z.int().min(0);
const anything = (description: string) => z.unknown().optional().meta({ description });

/** How alerts become incidents (contract: Alerts). */
const options = {
  on_end: z.enum(['note', 'resolve']).optional().meta({
    description:
      'What the end of all alerts does: `note` adds a timeline event and sets recovered_at if nobody has, `resolve` also resolves the incident if nobody has acted on it; default: `note`',
    default: 'note',
  }),
  reopen_within: z.int().min(0).max(604_800).optional().meta({
    description:
      'Seconds after an end that resolved the incident in which a new firing reopens it; later, it declares another one; default: 3600',
    default: 3_600,
  }),
  remind_after: z.int().min(0).max(2_592_000).optional().meta({
    description:
      'Seconds after which an alert that still fires declares another incident although a person has closed its own; default: 86400',
    default: 86_400,
  }),
  new_incidents: z.int().min(1).max(60).optional().meta({
    description:
      'The most incidents that the key declares in a minute; the last of them stands for all further groups of that minute; default: 20',
    default: 20,
  }),
  quiet_after: z.int().min(60).max(2_592_000).optional().meta({
    description:
      'Seconds after which alerts that fire end if nothing has been heard of their group; default: they end only when the monitor says so',
  }),
  service: composedText(128).optional().meta({ description: 'The service of all alerts; default: that of each' }),
  service_label: boundedText(128).optional().meta({
    description: 'The label that names the service, by its slug or one of its observability_names; default: `service`',
    default: 'service',
  }),
  severity_label: boundedText(128).optional().meta({
    description:
      'The label that names the severity, by its key, its label or a word like `critical` or `warning`; default: `severity`',
    default: 'severity',
  }),
  restricted: z.boolean().optional().meta({
    description: 'Whether the incidents are restricted; default: as the severity says',
    default: false,
  }),
};

export const alertsQuery = z.strictObject(options);
const within = z.int().min(60).max(604_800);

export const alertmanagerQuery = z.strictObject({
  ...options,
  heartbeat: within.optional().meta({
    description:
      'Seconds: the notification is no alert, but says that its monitor is alive; an incident is declared if no other one that fires comes within this time',
  }),
  group: z.enum(['group', 'alert']).optional().meta({
    description:
      'What belongs to one incident: the alerts of a group of the monitor, by its groupKey, or a single alert, by its fingerprint; default: `group`',
    default: 'group',
  }),
});

export const heartbeatQuery = z.strictObject({
  name: nameText(KEPT.name).meta({
    description: 'What is alive; each name of a key is a heartbeat of its own',
    example: 'nightly backup',
  }),
  within: within.meta({ description: 'Seconds in which the next one must come', example: 90_000 }),
  severity: boundedText(KEPT.label).optional().meta({
    description: 'Key or label of the severity of the incident if it does not come; default: the default severity',
  }),
  service: boundedText(128).optional().meta({ description: 'The service of the incident; default: none' }),
  restricted: options.restricted,
});

export const heartbeatParams = z.strictObject({ id: id.meta({ description: 'ID of the heartbeat' }) });

const heartbeat = z
  .strictObject({
    id: id.meta({ description: 'Identifies the heartbeat' }),
    name: z.string().meta({ description: 'What must be heard' }),
    api_key: z
      .strictObject({ id: id.meta({ description: 'ID of the API key, the first one of its rotations' }) })
      .meta({ description: 'The monitor' }),
    within: z.int().min(1).meta({ description: 'Seconds in which it must be heard again' }),
    heard_at: instant.meta({ description: 'When it was heard last' }),
    due_at: instant.nullable().meta({ description: 'When it is missed; null: it is' }),
    incident: incident.meta({ description: 'The incident that was declared when it was missed last; null: none' }),
  })
  .meta({ id: 'Heartbeat' });

export type HeartbeatWire = z.infer<typeof heartbeat>;

export const heartbeatReply = z.strictObject({ heartbeat: heartbeat.meta({ description: 'As it is now' }) });
export const heartbeatList = z.strictObject({
  heartbeats: z.array(heartbeat).meta({ description: `All heartbeats by name, at most ${MAX_HEARTBEATS}` }),
});

/** Other systems make these bodies, so that what is not known here is ignored. */
export const alertmanagerBody = z.looseObject({
  groupKey: anything('Identity of the group; required, except with `group=alert`'),
  status: anything('`resolved`: no alert of the group fires any more'),
  commonAnnotations: anything('Its `summary` is the title of the incident'),
  externalURL: anything('Address of Alertmanager or Grafana; becomes an evidence link'),
  alerts: anything(
    `The alerts, 1 to ${MAX_ALERTS}, each with status (\`firing\` or \`resolved\`), labels, annotations, startsAt, endsAt, fingerprint and generatorURL`,
  ),
});

export const pagerDutyBody = z.looseObject({
  event_action: anything('`trigger`, `acknowledge` or `resolve`'),
  dedup_key: anything('Identity of the alert; required, except to trigger an alert that is never resolved'),
  payload: anything(
    'What has happened: summary (required to trigger), severity, source, component, group, class, timestamp, custom_details',
  ),
  links: anything('Objects with href and text; become evidence links'),
  client: anything('Name of the monitor'),
  client_url: anything('Its address; becomes an evidence link'),
});

export const enqueuedBody = pagerDutyBody.extend({
  routing_key: anything('The API token, if the request has none in a header'),
});

export const enqueued = z.strictObject({
  status: z.literal('success').meta({ description: 'Always `success`: everything is stored' }),
  message: z.literal('Event processed').meta({ description: 'The same, for people' }),
  dedup_key: z.string().meta({ description: 'Identity of the alert, to acknowledge and resolve it' }),
});

export const sentryBody = z.looseObject({
  action: anything(
    '`triggered` by an alert rule; of an issue: `created`, `unresolved`, `assigned`, `resolved`, `archived`',
  ),
  data: anything(
    'Its `event` (title, issue_id, level, tags, web_url) or `issue` (id, title, level, project, permalink)',
  ),
});

export const azureBody = z.looseObject({
  schemaId: anything('`azureMonitorCommonAlertSchema`'),
  data: anything(
    'Its `essentials`: alertId, alertRule, severity, monitorCondition, firedDateTime, resolvedDateTime, configurationItems, description',
  ),
});

/** Bounds of texts that are shortened: a template has no way to do that. */
const LONG = 65_536;
/** The same, of lists. */
const MANY = 1_000;

export const alertBody = z
  .strictObject({
    id: nameText(LONG).meta({ description: 'Identity of the alert in the monitor' }),
    group: nameText(LONG).optional().meta({
      description: 'Identity of what belongs to one incident, for several alerts; default: that of the alert',
    }),
    status: z.enum(['firing', 'resolved']).meta({ description: 'Whether the alert fires or has ended' }),
    title: nameText(LONG).meta({ description: 'What has happened, in one line' }),
    description: boundedText(LONG).optional().meta({ description: 'What has happened, in more words' }),
    severity: boundedText(LONG).optional().meta({
      description: 'Key or label of a severity, or a word like `critical` or `warning`; default: the default severity',
    }),
    service: boundedText(LONG).optional().meta({
      description: 'Slug of a service, one of its observability_names, or any text; default: none',
    }),
    started_at: timestampInput.optional().meta({
      description: 'When the alert began to fire: another time is another firing; default: unknown',
    }),
    ended_at: timestampInput.optional().meta({ description: 'When it ended; default: now' }),
    labels: z
      .record(boundedText(LONG), boundedText(LONG))
      .refine((labels) => Object.keys(labels).length <= MANY, `Must have at most ${MANY} names`)
      .optional()
      .meta({
        description: `Further properties; the first ${KEPT.labels} are kept; default: none`,
        maxProperties: MANY,
      }),
    links: z
      .array(
        z.strictObject({
          url: boundedText(LONG).meta({ description: 'Absolute http or https URL' }),
          label: boundedText(LONG).optional().meta({ description: 'A short name; default: `Link`', default: 'Link' }),
        }),
      )
      .max(MANY)
      .optional()
      .meta({ description: 'Where to look; become evidence links; default: none' }),
  })
  .meta({ id: 'NewAlert' });

export const received = z.strictObject({
  results: z
    .array(
      z.strictObject({
        identity: z.string().meta({ description: "The monitor's identity of the group; a long one is shortened" }),
        outcome: z.enum(OUTCOMES).exclude(['refused']).meta({
          description:
            '`declared`, `reopened`, or `collected` into the last incident of the minute; `added` to an open incident; `ended`: nothing fires any more or less than before; `closed_by_person`: it still fires, and a person has closed its incident; `unchanged`: nothing is new',
        }),
        reason: z.string().optional().meta({ description: 'What was not done, in a sentence; absent: all was' }),
        declared_again_at: instant.optional().meta({
          description:
            'With `closed_by_person`: when another incident is declared if it still fires; absent with other outcomes',
        }),
        incident: incident.meta({ description: 'The incident that the group belongs to; null: none' }),
        alerts: z
          .array(
            z.strictObject({
              id: z.string().meta({ description: 'Identity of the alert; a long one is shortened' }),
              outcome: z.enum(['started', 'ended', 'acknowledged', 'raised', 'unchanged']).meta({
                description:
                  'What is new of it: it fires, it has ended, the monitor says that somebody cares, or its severity is higher',
              }),
            }),
          )
          .meta({ description: 'The alerts of the group in the notification' }),
      }),
    )
    .meta({ description: 'What has become of each group of the notification' }),
  left_out: z
    .array(
      z.strictObject({
        field: z.string().meta({ description: 'The property, dotted, with indexes' }),
        reason: z.string().meta({ description: 'Why, as a clause for people that may change' }),
      }),
    )
    .max(MAX_LEFT_OUT)
    .meta({ description: `What was not kept or was shortened, the first ${MAX_LEFT_OUT}; empty: all was kept` }),
});

const outcomes = z.enum(OUTCOMES);

export const listQuery = z.strictObject({
  ...pageQuery,
  key_id: id.optional().meta({ description: 'Notifications with the API key with this ID' }),
  outcome: z.array(outcomes).max(OUTCOMES.length).optional().meta({ description: 'Outcomes; default: all' }),
  received_from: timestampInput.optional().meta({ description: 'Notifications at this time or later' }),
  received_to: timestampInput.optional().meta({ description: 'Notifications before this time' }),
});

const notification = z
  .strictObject({
    id: id.meta({ description: 'Identifies the record' }),
    received_at: instant.meta({ description: 'When the notification came' }),
    api_key: z
      .strictObject({
        id: id.meta({ description: 'ID of the API key' }),
        name: z.string().meta({ description: 'Its name at that time: that of the monitor' }),
        prefix: z.string().meta({ description: 'The first characters of its token' }),
      })
      .meta({ description: 'The API key, which is the monitor' }),
    format: z.enum(FORMATS).meta({ description: 'The format of the notification' }),
    identity: z.string().meta({
      description: "The monitor's identity of the group, the first of several; shortened; empty: unknown",
    }),
    groups: count.meta({ description: 'Number of groups that this is about' }),
    outcome: outcomes.meta({ description: 'What has become of them' }),
    reason: z.string().meta({ description: 'Why something was refused or not kept, for people; empty: nothing was' }),
    body_start: z.string().meta({
      description: `The first ${KEPT.bodyStart} characters of a refused body, without tokens; empty: none, or it was taken`,
    }),
    incident: incident.meta({ description: 'Their incident; null: none' }),
    started: count.meta({ description: 'Alerts that began to fire' }),
    ended: count.meta({ description: 'Alerts that ended' }),
    unchanged: count.meta({ description: 'Alerts that were known already' }),
  })
  .meta({ id: 'AlertNotification' });

export type NotificationWire = z.infer<typeof notification>;

export const notificationPage = z.strictObject({
  notifications: z.array(notification).meta({ description: 'Notifications, the newest first' }),
  pagination,
});
