import { MAX_WAITING_REQUESTS, waitingSettings } from '@tocsin/http';
import { ownDatabaseUrl } from '@tocsin/postgres';
import { type Environment, readConfig, setting } from '@tocsin/runtime';
import { egressOf, egressProblems, receiverSettings } from '@tocsin/safe-http';
import { retentionSettings, serviceConfig, serviceSettings } from '@tocsin/service-host/config';
import { z } from 'zod';
import { DEADLINE, type DeliveryLimits } from './queue/domain/delivery.ts';
import { CONTRACT_LIMITS, type RequestLimits } from './requests/domain/limits.ts';
import { schema } from './schema.ts';

const DAY = 86_400_000;
const MEBIBYTE = 1_048_576;
const { windows: WINDOWS, slots: SLOTS } = CONTRACT_LIMITS;

/** One lock for all processes is enough for a hundred requests a second. */
const deliveriesPerMinute = setting.integer({ min: 1, max: 6_000 });
const checksPerMinute = setting.integer({ min: 1, max: 600 });
/** A request takes up to ten seconds, and some memory, in one process in the worst case. */
const slots = setting.integer({ min: 1, max: 200 });

/** A receiver is a host name, and also an IP address. */
const requestSettings = {
  WEBHOOK_DELIVERIES_PER_MINUTE: deliveriesPerMinute.default(WINDOWS.delivery.all),
  WEBHOOK_DELIVERIES_PER_MINUTE_PER_WORKSPACE: deliveriesPerMinute.default(WINDOWS.delivery.workspace),
  WEBHOOK_DELIVERIES_PER_MINUTE_PER_RECEIVER: deliveriesPerMinute.default(WINDOWS.delivery.host),
  WEBHOOK_CHECKS_PER_MINUTE: checksPerMinute.default(WINDOWS.check.all),
  WEBHOOK_CHECKS_PER_MINUTE_PER_WORKSPACE: checksPerMinute.default(WINDOWS.check.workspace),
  WEBHOOK_CHECKS_PER_MINUTE_PER_RECEIVER: checksPerMinute.default(WINDOWS.check.host),
  WEBHOOK_MAX_REQUESTS: slots.default(SLOTS.all),
  WEBHOOK_MAX_REQUESTS_PER_WORKSPACE: slots.default(SLOTS.workspace),
  WEBHOOK_MAX_REQUESTS_PER_RECEIVER: slots.default(SLOTS.host),
};

const deliverySettings = {
  /** Events are skipped behind it: fewer than the contract's would lose some that clients rely on. */
  WEBHOOK_MAX_QUEUED_PER_WORKSPACE: setting.integer({ min: 1_000, max: 10_000 }).default(1_000),
  /** Longer than the deadline of a delivery. */
  WEBHOOK_DELIVERY_RETENTION_DAYS: setting.integer({ min: 2, max: 90 }).default(7),
  WEBHOOK_REVOKED_RETENTION_DAYS: setting.integer({ min: 2, max: 3_650 }).default(30),
};

const feedSettings = {
  WEBHOOK_FEED_RETENTION_DAYS: setting.integer({ min: 1, max: 3_650 }).default(30),
  /** Far more than a reader needs who is away for a day. */
  WEBHOOK_FEED_MAX_MB_PER_WORKSPACE: setting.integer({ min: 64, max: 1_048_576 }).default(2_048),
};

const settings = {
  ...serviceSettings,
  ...receiverSettings,
  ...waitingSettings,
  ...requestSettings,
  ...deliverySettings,
  ...feedSettings,
  WEBHOOK_DATABASE_URL: ownDatabaseUrl,
  WEBHOOK_MAX_WAITING_REQUESTS: setting.integer({ min: 1, max: 100_000 }).default(MAX_WAITING_REQUESTS),
  INCIDENT_URL: setting.serviceUrls,
  PUBLIC_URL: setting.publicUrl.optional(),
  /** `smtps://user:password@host:465`, or `smtp://`, which then has to offer STARTTLS. */
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  /** Who sends mail, as `Tocsin <tocsin@example.com>`. */
  SMTP_FROM: z.string().min(3).max(320).optional(),
  /** Template of `resource.url` in events, with {workspace}, {id} and {reference}; by default the console's, if its address is known. */
  WEBHOOK_RESOURCE_URL: z
    .string()
    .refine((template) => URL.canParse(template.replaceAll(/\{(workspace|id|reference)\}/g, '1')), 'must be a URL')
    .optional(),
};

type Settings = ReturnType<typeof readConfig<typeof settings>>;

export type WebhookConfig = ReturnType<typeof webhookConfig>;

/** @throws ConfigError naming each setting that is missing, malformed or contradicts another one */
export function webhookConfig(env: Environment) {
  const read = readConfig(settings, env, contradictions);
  return {
    ...serviceConfig(read, { schema, databaseUrl: read.WEBHOOK_DATABASE_URL }),
    incidentUrls: read.INCIDENT_URL,
    egress: egressOf(read),
    mail: read.SMTP_URL === undefined ? undefined : { url: read.SMTP_URL, from: read.SMTP_FROM ?? '' },
    resourceUrl: read.WEBHOOK_RESOURCE_URL ?? (read.PUBLIC_URL && `${read.PUBLIC_URL}/app/incidents/{id}`),
    requestLimits: requestLimitsOf(read),
    deliveryLimits: deliveryLimitsOf(read),
    feedRetentionDays: read.WEBHOOK_FEED_RETENTION_DAYS,
    feedMaxBytes: read.WEBHOOK_FEED_MAX_MB_PER_WORKSPACE * MEBIBYTE,
    waiting: { ofWorkspace: read.MAX_WAITING_REQUESTS_PER_WORKSPACE, inAll: read.WEBHOOK_MAX_WAITING_REQUESTS },
  };
}

/** What the service keeps, for administration, which works on its data. @throws ConfigError like `webhookConfig` */
export const deliveryLimits = (env: Environment): DeliveryLimits => deliveryLimitsOf(readConfig(deliverySettings, env));

/** In days. @throws ConfigError like `webhookConfig` */
export const retentionDays = (env: Environment): { feed: number; inbox: number } => {
  const { INBOX_RETENTION_DAYS } = retentionSettings;
  const read = readConfig({ ...feedSettings, INBOX_RETENTION_DAYS }, env);
  return { feed: read.WEBHOOK_FEED_RETENTION_DAYS, inbox: read.INBOX_RETENTION_DAYS };
};

const requestLimitsOf = (read: Settings): RequestLimits => ({
  windows: {
    delivery: {
      all: read.WEBHOOK_DELIVERIES_PER_MINUTE,
      workspace: read.WEBHOOK_DELIVERIES_PER_MINUTE_PER_WORKSPACE,
      host: read.WEBHOOK_DELIVERIES_PER_MINUTE_PER_RECEIVER,
      ip: read.WEBHOOK_DELIVERIES_PER_MINUTE_PER_RECEIVER,
    },
    check: {
      all: read.WEBHOOK_CHECKS_PER_MINUTE,
      workspace: read.WEBHOOK_CHECKS_PER_MINUTE_PER_WORKSPACE,
      host: read.WEBHOOK_CHECKS_PER_MINUTE_PER_RECEIVER,
      ip: read.WEBHOOK_CHECKS_PER_MINUTE_PER_RECEIVER,
    },
  },
  slots: {
    all: read.WEBHOOK_MAX_REQUESTS,
    workspace: read.WEBHOOK_MAX_REQUESTS_PER_WORKSPACE,
    host: read.WEBHOOK_MAX_REQUESTS_PER_RECEIVER,
    ip: read.WEBHOOK_MAX_REQUESTS_PER_RECEIVER,
  },
});

const deliveryLimitsOf = (read: ReturnType<typeof readConfig<typeof deliverySettings>>): DeliveryLimits => ({
  maxQueued: read.WEBHOOK_MAX_QUEUED_PER_WORKSPACE,
  retention: read.WEBHOOK_DELIVERY_RETENTION_DAYS * DAY,
  revokedRetention: read.WEBHOOK_REVOKED_RETENTION_DAYS * DAY,
});

function contradictions(read: Settings): string[] {
  const lines = egressProblems(read);
  if ((read.SMTP_URL === undefined) !== (read.SMTP_FROM === undefined))
    lines.push('SMTP_URL, SMTP_FROM: both must be set, or neither');
  if (read.INBOX_RETENTION_DAYS < read.WEBHOOK_DELIVERY_RETENTION_DAYS) {
    // An event that comes again after its row in the inbox is deleted would be stored twice.
    lines.push(
      `INBOX_RETENTION_DAYS: must be at least WEBHOOK_DELIVERY_RETENTION_DAYS (${read.WEBHOOK_DELIVERY_RETENTION_DAYS})`,
    );
  }
  if (read.WEBHOOK_REVOKED_RETENTION_DAYS < read.WEBHOOK_DELIVERY_RETENTION_DAYS) {
    // Deliveries are deleted with their subscription.
    lines.push(
      `WEBHOOK_REVOKED_RETENTION_DAYS: must be at least WEBHOOK_DELIVERY_RETENTION_DAYS (${read.WEBHOOK_DELIVERY_RETENTION_DAYS})`,
    );
  }
  const { all, workspace, host } = requestLimitsOf(read).windows.delivery;
  const minutes = DEADLINE / 60_000;
  const sendable = minutes * Math.min(all, workspace, host);
  if (read.WEBHOOK_MAX_QUEUED_PER_WORKSPACE > sendable) {
    lines.push(
      `WEBHOOK_MAX_QUEUED_PER_WORKSPACE: must be at most ${sendable}, which the smallest of WEBHOOK_DELIVERIES_PER_MINUTE` +
        ` and its _PER_WORKSPACE and _PER_RECEIVER lets Tocsin send before the deadline of 24 hours`,
    );
  }
  return lines;
}
