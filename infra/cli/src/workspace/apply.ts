import { setTimeout as delay } from 'node:timers/promises';
import { PreconditionFailedError, type Tocsin } from '@tocsin/sdk';
import type { Row } from '../output.ts';
import { isRefusal } from './check.ts';
import { hasIds, isSame, KINDS, keyOf, listsOf, pick, resourceOf } from './kinds.ts';
import { type Present, statedIn } from './present.ts';
import type { Secrets } from './secrets.ts';
import { currentOf, send } from './send.ts';
import { nameOfStep, type Plan, type Step } from './steps.ts';

export interface Run {
  tocsin: Tocsin;
  plan: Plan;
  /** It is kept up to date. */
  present: Present;
  secrets: Secrets | undefined;
  signal: AbortSignal;
}

/**
 * Carries out the steps of a plan, one after the other. A step that an earlier run has carried out is left out, and what
 * somebody else has changed since the plan ends the run.
 * @param onStep is called after each, with false if nothing was to be done any longer
 */
export async function applySteps(run: Run, onStep: (step: Step, isWritten: boolean) => void): Promise<void> {
  for (const [index, step] of run.plan.steps.entries()) {
    run.signal.throwIfAborted();
    const idempotencyKey = `plan-${run.plan.id}-${index}`;
    onStep(step, await carryOut(run, step, idempotencyKey));
  }
}

/** Returns false if the workspace is already as the step wants it. @throws Error also for a conflict */
async function carryOut(run: Run, step: Step, idempotencyKey: string): Promise<boolean> {
  const { action, list, revision, properties } = step;
  const current = currentOf(run.present, step);
  const write = async () =>
    keep(run, step, await send(run.tocsin, run.present, step, { signal: run.signal, idempotencyKey }));
  if (list === 'webhooks') return carryOutWebhook(run, step, current);
  if (list === 'members') {
    if (action === 'remove' ? current === undefined : current?.['role'] === properties['role']) return false;
    const from = action === 'add' ? undefined : (step.changes[0]?.from ?? properties['role']);
    if (current?.['role'] !== from) throw await conflict(run, step, current);
    return write();
  }
  // Archived destinations are not listed.
  if (list === 'destinations' && action === 'archive' && current === undefined) return false;
  const isArchived = current?.['archived_at'] !== undefined;
  if (action === 'create') {
    if (current === undefined) return write();
    if (!isArchived && (await agrees(run, step, current))) return false;
    throw await conflict(run, step, current);
  }
  if (current === undefined) throw await conflict(run, step, current);
  if (action === 'change') {
    if (current['revision'] === revision)
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof PreconditionFailedError)) throw error;
        await readAgain(run, step, current);
      }
    const now = currentOf(run.present, step) ?? {};
    if (await agrees(run, step, now)) return false;
    throw await conflict(run, step, now);
  }
  if (isArchived === (action === 'archive')) return false;
  if (current['revision'] !== revision) throw await conflict(run, step, current);
  return write();
}

/** The secret is stored before anything else happens; one that was lost is replaced. */
async function carryOutWebhook(run: Run, step: Step, current: Row | undefined): Promise<boolean> {
  const { tocsin, present, secrets, signal } = run;
  const { action, name } = step;
  if (action === 'archive') {
    if (current === undefined) return false;
    return keep(run, step, await send(tocsin, present, step, { signal }));
  }
  if (secrets === undefined) throw new Error('the secret of a webhook would be lost: give --secrets-to FILE');
  const state = secrets.stateOf(name);
  if (current !== undefined && state === 'stored') return false;
  if (current !== undefined && state === undefined) throw await conflict(run, step, current);
  if (current === undefined && action === 'rotate') throw await conflict(run, step, current);
  if (current === undefined) secrets.add(name);
  const writtenStep: Step = current === undefined ? step : { ...step, action: 'rotate' };
  try {
    const { webhook = current, secret } = (await send(tocsin, present, writtenStep, { signal })) as {
      webhook?: Row;
      secret: string;
    };
    secrets.add(name, { id: webhook?.['id'] as string, secret });
    return keep(run, step, { webhook });
  } catch (error) {
    if (isRefusal(error) && current === undefined) secrets.add(name, { secret: null });
    throw error;
  }
}

/** Keeps what a write has made. */
function keep({ present }: Run, { list, action, name, team = '' }: Step, reply: Row): true {
  const [resource] = Object.values(reply) as [Row?];
  if (list === 'configuration') present.configuration = { ...resource } as unknown as Present['configuration'];
  else if (list === 'members') {
    const members = present.members.get(keyOf('teams', team)) ?? new Map<string, Row>();
    present.members.set(keyOf('teams', team), members);
    if (resource === undefined) members.delete(keyOf('users', name));
    else members.set(keyOf('users', name), resource);
  } else if ((list === 'webhooks' || list === 'destinations') && action === 'archive')
    present.rows[list].delete(keyOf(list, name));
  else if (resource !== undefined) {
    present.rows[list].set(keyOf(list, name), resource);
    if (list === 'teams') present.teamSlugs.set(resource['id'], resource['slug'] as string);
  }
  return true;
}

async function readAgain(run: Run, step: Step, { id }: Row): Promise<void> {
  const { tocsin, signal } = run;
  const { list } = step;
  if (list === 'configuration') keep(run, step, { ...(await tocsin.configuration.get({ signal })) });
  else keep(run, step, await resourceOf(tocsin, KINDS[list as 'teams']).get(id, { signal }));
}

/** Whether a resource has the properties of a step, as the server would store them. */
async function agrees({ tocsin, present, signal }: Run, step: Step, current: Row): Promise<boolean> {
  const { list, properties } = step;
  // What is replaced is nothing that a workspace has.
  const names = Object.keys(properties).filter((name) => name !== 'replace');
  const kind = list === 'configuration' || list === 'members' ? undefined : KINDS[list];
  const stated = kind === undefined ? listsOf(current, hasIds(properties)) : statedIn(present, kind, current);
  if (isSame(pick(stated, names), pick(properties, names))) return true;
  const [fixed, free] = [kind?.permanent ?? [], names.filter((name) => !kind?.permanent.includes(name))];
  if (!isSame(pick(stated, fixed), pick(properties, fixed))) return false;
  const change: Step = {
    ...step,
    action: 'change',
    properties: pick(properties, free),
    revision: current['revision'] as number,
  };
  try {
    const [after] = Object.values(await send(tocsin, present, change, { signal, validateOnly: true })) as [Row];
    return after['revision'] === current['revision'];
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

/** What is said of a change by somebody else: who and when, as far as the API knows. */
async function conflict(run: Run, step: Step, current: Row | undefined): Promise<Error> {
  const name = nameOfStep(step);
  if (current === undefined) return new Error(`${name} is not there any longer: plan again`);
  const base = step.revision === undefined ? '' : `; the plan is based on revision ${step.revision}`;
  const { revision, updated_at: updatedAt } = current;
  const by = await lastChange(run, step, current);
  const now = revision === undefined ? '' : `, and has revision ${revision as number}${base}`;
  return new Error(`${name} was changed ${by ?? `at ${updatedAt as string}`}${now}: plan again`);
}

/** Tries, and milliseconds between two: an entry comes up to a second after its change. */
const TRIES = 4;
const PAUSE = 700;

/** By the audit log, which has the changes of settings. Undefined if it does not say, or the token may not read it. */
async function lastChange(
  { tocsin, signal, present }: Run,
  { list }: Step,
  { id, updated_at: since }: Row,
): Promise<string | undefined> {
  if (list !== 'configuration' && list !== 'users') return undefined;
  const [type, key] = list === 'users' ? ['user', id] : [list, present.workspace.id];
  try {
    // A configuration has no time: the entry of an earlier change must not be taken for that of the last one.
    for (let attempt = list === 'users' ? TRIES : 1; attempt > 0; attempt -= 1) {
      await delay(list === 'users' ? PAUSE : TRIES * PAUSE, undefined, { signal });
      const query = { limit: 100, ...(since !== undefined && { occurred_from: since as string }) };
      const { entries } = await tocsin.auditLog.list(query, { signal }).page();
      const entry = entries.find((one) => one.target.type === type && one.target.id === String(key));
      if (entry === undefined) continue;
      const { user_id: user, api_key_prefix: prefix } = entry.actor;
      if (user === null) return `by an operator at ${entry.occurred_at}`;
      const { name } = (await tocsin.users.getName(user, { signal })).user;
      return `by ${name} (user ${user}, key ${prefix ?? ''}) at ${entry.occurred_at}`;
    }
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  return undefined;
}
