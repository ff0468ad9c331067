import { instant } from '@tocsin/contracts';
import { z } from 'zod';
import { isChannelName } from '../domain/channel-name.ts';
import { PROVISIONING_STATUSES, STEP_KEYS, STEP_STATUSES } from '../domain/provisioning.ts';
import type { WantedName } from '../usecases/channel-name.ts';
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
    .meta({ description: 'Of the failed steps, all unless given' }),
});

const MODES = ['custom', 'workspace_template'] as const satisfies WantedName['mode'][];

/** A name that is given, or the one of the workspace's template, which brings its own. */
export const channelNameRequest = z
  .strictObject({
    mode: z.enum(MODES),
    name: z
      .string()
      .refine(isChannelName, 'Must be 1 to 80 characters: a to z, digits, hyphens and underscores')
      .optional()
      .meta({ description: 'With the mode custom only, and then required', pattern: '^[a-z0-9_-]{1,80}$' }),
  })
  .refine(({ mode, name }) => mode !== 'custom' || name !== undefined, { path: ['name'], error: 'Is required here' })
  .refine(({ mode, name }) => mode !== 'workspace_template' || name === undefined, {
    path: ['name'],
    error: 'Must not be given here: the name comes from the template',
  })
  .meta({ id: 'ChannelNameRequest' });

/** The request as the command takes it. */
export const toWantedName = ({ mode, name }: z.infer<typeof channelNameRequest>): WantedName =>
  mode === 'custom' && name !== undefined ? { mode, name } : { mode: 'workspace_template' };

const channel_name = z.string();
const mode = z.enum(MODES);

export const channelNamePreview = z.strictObject({
  channel_name,
  current_name: z.string(),
  mode,
  available: z.boolean(),
});

export const channelNameChange = z.strictObject({
  channel_name,
  channel_id: z.string(),
  mode,
  changed: z.boolean(),
});

export const renamed = z.strictObject({ channel_name });
