import { instant } from '@tocsin/contracts';
import { z } from 'zod';
import { isChannelName } from '../domain/channel-name.ts';
import { PROVISIONING_STATUSES, STEP_KEYS, STEP_STATUSES } from '../domain/provisioning.ts';
import type { RequestedName } from '../usecases/channel-name.ts';
import { id } from './wire.ts';

const step = z
  .strictObject({
    key: z.enum(STEP_KEYS),
    status: z.enum(STEP_STATUSES),
    attempts: z.int().min(0),
    error_code: z.string().optional(),
    updated_at: instant,
  })
  .meta({ id: 'ProvisioningStep' });

const provisioning = z
  .strictObject({
    incident_id: id,
    status: z.enum(PROVISIONING_STATUSES),
    steps: z.array(step),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Provisioning' });

export type ProvisioningWire = z.infer<typeof provisioning>;

export const provisioningReply = z.strictObject({ provisioning });

export const provisioningRetry = z.strictObject({
  steps: z
    .array(z.enum(STEP_KEYS))
    .min(1)
    .max(STEP_KEYS.length)
    .optional()
    .meta({ description: 'The failed steps to retry; default: all' }),
});

const CHANNEL_NAME = 'Must be 1 to 80 characters: a to z, digits, hyphens and underscores';
const MODES = ['custom', 'workspace_template'] as const satisfies RequestedName['mode'][];

/** A custom name, or the name that the workspace's template produces. */
export const channelNameRequest = z
  .strictObject({
    mode: z.enum(MODES),
    name: z
      .string()
      .max(80, { error: CHANNEL_NAME, abort: true })
      .refine(isChannelName, CHANNEL_NAME)
      .optional()
      .meta({ description: 'Required with mode=custom; only allowed with mode=custom', pattern: '^[a-z0-9_-]{1,80}$' }),
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
  mode === 'custom' && name !== undefined ? { mode, name } : { mode: 'workspace_template' };

const channel_name = z.string();
const mode = z.enum(MODES);

export const channelNamePreviewReply = z.strictObject({
  channel_name,
  current_name: z.string(),
  mode,
  available: z.boolean(),
});

export const channelNameReply = z.strictObject({
  channel_name,
  channel_id: z.string(),
  mode,
  changed: z.boolean(),
});

export const channelRenameReply = z.strictObject({ channel_name });
