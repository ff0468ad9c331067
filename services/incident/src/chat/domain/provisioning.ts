import type { ErrorCode } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';

/** In the order of execution: users are invited into the new channel. */
export const STEP_KEYS = ['slack_channel', 'invite_usergroups'] as const;
export type StepKey = (typeof STEP_KEYS)[number];

/** Background work in the chat for an incident: a provisioning step, or the messages about its changes. */
export const WORK_KEYS = [...STEP_KEYS, 'channel_updates'] as const;
export type WorkKey = (typeof WORK_KEYS)[number];

export const STEP_STATUSES = ['not_requested', 'pending', 'running', 'succeeded', 'failed'] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

/** The progress of background work. */
export interface WorkProgress {
  status: StepStatus;
  attempts: number;
  /** The error of the last attempt; null if it succeeded. */
  errorCode: ErrorCode | null;
  updatedAt: Instant;
}

export interface ProvisioningStep extends WorkProgress {
  key: StepKey;
}

/** The provisioning of an incident in the chat and its progress (contract: Chat). */
export interface Provisioning {
  incidentId: number;
  steps: readonly ProvisioningStep[];
  createdAt: Instant;
}

export const PROVISIONING_STATUSES = [...STEP_STATUSES, 'partial'] as const;
export type ProvisioningStatus = (typeof PROVISIONING_STATUSES)[number];

/** `partial`: all steps have ended, some succeeded and some failed. */
export function overallStatus(steps: readonly Pick<ProvisioningStep, 'status'>[]): ProvisioningStatus {
  const has = (status: StepStatus) => steps.some((step) => step.status === status);
  if (has('running')) return 'running';
  if (has('pending')) return 'pending';
  if (has('failed')) return has('succeeded') ? 'partial' : 'failed';
  return has('succeeded') ? 'succeeded' : 'not_requested';
}

/** The provisioning of an incident that requested none. */
export const emptyProvisioning = (incident: { id: number; createdAt: Instant }): Provisioning => ({
  incidentId: incident.id,
  steps: STEP_KEYS.map((key) => notRequestedStep(key, incident.createdAt)),
  createdAt: incident.createdAt,
});

export const notRequestedStep = (key: StepKey, at: Instant): ProvisioningStep => ({
  key,
  status: 'not_requested',
  attempts: 0,
  errorCode: null,
  updatedAt: at,
});

/** Why an attempt failed and whether a retry makes sense. */
export interface StepFailure {
  errorCode: ErrorCode;
  /** Whether a later attempt may succeed. */
  isTransient: boolean;
  /** Seconds to wait, as the chat requested. */
  retryAfter?: number | undefined;
}

/** Milliseconds before the second attempt, the third and so on; after the last one the step fails. */
const BACKOFF = [1_000, 2_000, 4_000, 8_000] as const;
/** Seconds. A rate limit does not count as a failure, but both its duration and its number have a limit. */
const MAX_RETRY_AFTER = 15 * 60;
const MAX_WAITS = 20;

/** Counts of unsuccessful attempts since the step was last requested. */
export interface AttemptCounts {
  /** Attempts that failed. */
  failures: number;
  /** Attempts that were rate-limited. */
  waits: number;
}

/** Returns the new counts and the milliseconds until the next attempt; `wait` is `undefined` if there is none. */
export function afterFailure(
  before: AttemptCounts,
  { isTransient, retryAfter }: StepFailure,
): AttemptCounts & { wait: number | undefined } {
  if (!isTransient) return { ...before, wait: undefined };
  if (retryAfter !== undefined) {
    const canWait = retryAfter <= MAX_RETRY_AFTER && before.waits < MAX_WAITS;
    return { ...before, waits: before.waits + 1, wait: canWait ? retryAfter * 1_000 : undefined };
  }
  const wait: number | undefined = BACKOFF[before.failures];
  return { ...before, failures: before.failures + 1, wait };
}
