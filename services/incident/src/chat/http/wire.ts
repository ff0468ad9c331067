import { instant, trimmedText } from '@tocsin/schemas';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { isChannelName } from '../domain/channel-name.ts';
import { PROVISIONING_STATUSES, STEP_KEYS, STEP_STATUSES, WORK_KEYS } from '../domain/provisioning.ts';
import type { RequestedName } from '../channel-name.ts';
import { id } from '../../incidents/domain/property-kinds.ts';

const progress = {
  status: z
    .enum(STEP_STATUSES)
    .meta({ description: 'How far it is; what has `failed` is done again only after a retry' }),
  attempts: z.int().min(0).meta({ description: 'Number of attempts so far, those of earlier retries included' }),
  error_code: z
    .string()
    .optional()
    .meta({ description: 'The error code of the last attempt; absent if it succeeded or there was none' }),
  updated_at: instant.meta({ description: 'When it last changed' }),
};

const step = z
  .strictObject({
    key: z
      .enum(STEP_KEYS)
      .meta({ description: 'What the step does: create and link a channel, or invite user groups into it' }),
    ...progress,
  })
  .meta({ id: 'ProvisioningStep' });

const channelUpdates = z.strictObject(progress).meta({ id: 'ChannelUpdates' });

const provisioning = z
  .strictObject({
    incident_id: id.meta({ description: 'ID of the incident' }),
    status: z.enum(PROVISIONING_STATUSES).meta({
      description: 'The state of all steps together; `partial`: all have ended, some failed and some succeeded',
    }),
    steps: z.array(step).meta({ description: 'Every step, also one that was not requested' }),
    channel_updates: schemaReference(
      channelUpdates,
      'Messages in the channel about changes of status and severity; absent if there never was one',
    ).optional(),
    created_at: instant.meta({ description: 'When the work was requested; the creation of the incident if none was' }),
    updated_at: instant.meta({ description: 'When a step last changed' }),
  })
  .meta({ id: 'Provisioning' });

export type ProvisioningWire = z.infer<typeof provisioning>;

export const provisioningReply = z.strictObject({
  provisioning: schemaReference(provisioning, 'The work in Slack that was requested'),
});

const usergroup = trimmedText(80)
  .refine((handle) => !['', '@'].includes(handle.trim()), 'Must not be blank')
  .meta({ minLength: 1 });

/** What a request for a channel may say of it. */
export const requestedChannel = {
  short_title: trimmedText(12).optional().meta({
    description:
      "A part of the channel's name, converted to a slug; at most 12 characters; required if the workspace is set up so",
  }),
  invite_usergroups: z.array(usergroup).max(50).optional().meta({
    description:
      'Handles of Slack user groups to invite into the channel, with or without `@`; default: empty, which invites nobody',
    default: [],
  }),
};

export const provisioningRequest = z.strictObject(requestedChannel).meta({ id: 'ProvisioningRequest' });

export const provisioningRetry = z.strictObject({
  steps: z.array(z.enum(WORK_KEYS)).min(1).max(WORK_KEYS.length).optional().meta({
    description:
      'The steps to retry, and `channel_updates` for messages; those of them that have not failed stay as they are; default: all',
  }),
});

const CHANNEL_NAME = 'Must be 1 to 80 characters: letters that are not upper case, digits, hyphens and underscores';
/** 80 characters with several marks each, before they are composed. */
const MAX_CODE_UNITS = 640;
const MODES = ['custom', 'workspace_template'] as const satisfies RequestedName['mode'][];

/** A custom name, or the name that the workspace's template produces. */
export const channelNameRequest = z
  .strictObject({
    mode: z.enum(MODES).meta({ description: "Where the name comes from: the request, or the workspace's template" }),
    name: z
      .string()
      .max(MAX_CODE_UNITS, { error: CHANNEL_NAME, abort: true })
      .refine((name) => isChannelName(name.normalize('NFC')), CHANNEL_NAME)
      .meta({ minLength: 1, maxLength: 80, pattern: '^[^\\s!-,./:-^`{-~]+$' })
      .optional()
      .meta({
        description:
          'The name: 1 to 80 lower case letters of any script, digits, hyphens and underscores; required with mode=custom and only allowed then',
      }),
  })
  .refine(({ mode, name }) => mode !== 'custom' || name !== undefined, {
    path: ['name'],
    error: 'Is required with mode=custom',
  })
  .refine(({ mode, name }) => mode !== 'workspace_template' || name === undefined, {
    path: ['name'],
    error: 'Is only allowed with mode=custom',
  })
  .meta({ id: 'ChannelNameRequest' });

/** Converts the request for the command. */
export const toRequestedName = ({ mode, name }: z.infer<typeof channelNameRequest>): RequestedName =>
  mode === 'custom' && name !== undefined ? { mode, name: name.normalize('NFC') } : { mode: 'workspace_template' };

const channel_name = z.string().meta({ description: 'The name that the channel has now' });
const mode = z.enum(MODES).meta({ description: 'The mode of the request' });

export const channelNamePreviewReply = z.strictObject({
  channel_name: z.string().meta({ description: 'The name that the channel would get' }),
  current_name: channel_name,
  mode,
  available: z
    .boolean()
    .meta({ description: 'Whether no other channel has the name, as far as the connection to Slack can see' }),
});

export const channelNameReply = z.strictObject({
  channel_name,
  channel_id: z.string().meta({ description: 'ID of the channel, as in slack_channel_id of the incident' }),
  mode,
  changed: z.boolean().meta({ description: 'Whether the channel had another name before' }),
});

export const channelRenameReply = z.strictObject({ channel_name });
