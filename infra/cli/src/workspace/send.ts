import type { Tocsin } from '@tocsin/sdk';
import type { Row } from '../output.ts';
import { KINDS, keyOf, resourceOf } from './kinds.ts';
import { bodyOf, type Present } from './present.ts';
import type { Step } from './steps.ts';

export interface SendOptions {
  signal: AbortSignal;
  validateOnly?: boolean;
  idempotencyKey?: string;
}

/** What a step is about, as the workspace has it; undefined if it does not. */
export function currentOf(present: Present, { list, name, team = '' }: Step): Row | undefined {
  if (list === 'configuration') return { ...present.configuration };
  if (list === 'members') return present.members.get(keyOf('teams', team))?.get(keyOf('users', name));
  return present.rows[list].get(keyOf(list, name));
}

/** Sends the write of a step. Returns the reply. @throws TocsinError */
export async function send(tocsin: Tocsin, present: Present, step: Step, options: SendOptions): Promise<Row> {
  const { list, name, team = '', action, properties, revision: ifRevision = 0 } = step;
  const revised = { ...options, ifRevision };
  if (list === 'configuration') return { ...(await tocsin.configuration.replace(properties, revised)) };
  if (list === 'members') {
    const teamId = present.rows.teams.get(keyOf('teams', team))?.['id'] as number;
    const userId = present.rows.users.get(keyOf('users', name))?.['id'] as number;
    const body = properties as { role: 'member' };
    if (action === 'add') return { ...(await tocsin.teams.addMember(teamId, { ...body, user_id: userId }, options)) };
    if (action === 'change') return { ...(await tocsin.teams.updateMember(teamId, userId, body, options)) };
    await tocsin.teams.removeMember(teamId, userId, options);
    return {};
  }
  const kind = KINDS[list];
  const resource = resourceOf(tocsin, kind);
  const body = bodyOf(present, kind, properties);
  const id = currentOf(present, step)?.['id'];
  if (action === 'create') return resource.create({ [kind.identity]: name, ...body }, options);
  if (action === 'change') return resource.update(id, body, revised);
  if (list === 'webhooks')
    return { ...(await tocsin.webhooks[action === 'rotate' ? 'rotateSecret' : 'revoke'](id as string, options)) };
  return action === 'restore' ? resource.restore(id, options) : resource.archive(id, options);
}
