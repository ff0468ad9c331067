import type { ErrorCode } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';

/** In the order in which they are done: people are invited into the channel that was made. */
export const STEP_KEYS = ['slack_channel', 'invite_usergroups'] as const;
export type StepKey = (typeof STEP_KEYS)[number];

export const STEP_STATUSES = ['not_requested', 'pending', 'running', 'succeeded', 'failed'] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

export interface ProvisioningStep {
  key: StepKey;
  status: StepStatus;
  /** How often it was tried. */
  attempts: number;
  /** Of the last attempt, where that did not succeed. */
  errorCode: ErrorCode | null;
  updatedAt: Instant;
}

/** What is set up outside for an incident, and how far that has come (contract: Provisioning). */
export interface Provisioning {
  incidentId: number;
  steps: readonly ProvisioningStep[];
  createdAt: Instant;
}

export const PROVISIONING_STATUSES = [...STEP_STATUSES, 'partial'] as const;
export type ProvisioningStatus = (typeof PROVISIONING_STATUSES)[number];

/** `partial`: nothing goes on any more, some steps succeeded and some failed. */
export function overallStatus(steps: readonly Pick<ProvisioningStep, 'status'>[]): ProvisioningStatus {
  const has = (status: StepStatus) => steps.some((step) => step.status === status);
  if (has('running')) return 'running';
  if (has('pending')) return 'pending';
  if (has('failed')) return has('succeeded') ? 'partial' : 'failed';
  return has('succeeded') ? 'succeeded' : 'not_requested';
}

/** The record of an incident for which nothing was asked. */
export const nothingRequested = (incident: { id: number; createdAt: Instant }): Provisioning => ({
  incidentId: incident.id,
  steps: STEP_KEYS.map((key) => untouched(key, incident.createdAt)),
  createdAt: incident.createdAt,
});

export const untouched = (key: StepKey, at: Instant): ProvisioningStep => ({
  key,
  status: 'not_requested',
  attempts: 0,
  errorCode: null,
  updatedAt: at,
});

/** What an attempt failed with: for good, or to be tried again. */
export interface Setback {
  errorCode: ErrorCode;
  /** Whether the same attempt may succeed later. */
  passing: boolean;
  /** Seconds that the other side asked us to wait. */
  retryAfter?: number | undefined;
}

/** Milliseconds before the second attempt, the third, and so on; after the last the step has failed. */
const BACKOFF = [1_000, 2_000, 4_000, 8_000] as const;
/** Being told to wait says nothing against the request, so it is not counted as a failure; but not for ever. */
const LONGEST_WAIT = 15 * 60;
const MOST_WAITS = 20;

/** How a step stands after an attempt that did not succeed. */
export interface Counts {
  /** Attempts that failed since the step was last asked for. */
  failures: number;
  /** Attempts that were told to wait, since then. */
  waits: number;
}

/** What comes after a setback: the counts, and the milliseconds until the next attempt unless there is none. */
export function afterSetback(before: Counts, { passing, retryAfter }: Setback): Counts & { wait: number | undefined } {
  if (!passing) return { ...before, wait: undefined };
  if (retryAfter !== undefined) {
    const patient = retryAfter <= LONGEST_WAIT && before.waits < MOST_WAITS;
    return { ...before, waits: before.waits + 1, wait: patient ? retryAfter * 1_000 : undefined };
  }
  const wait: number | undefined = BACKOFF[before.failures];
  return { ...before, failures: before.failures + 1, wait };
}
