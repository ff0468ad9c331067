/**
 * `follow-ups` is what is left to do after incidents (contract: Follow-ups). A command locks the incident, which
 * decides whether its follow-ups may change, and reads the follow-up then. The revision of the incident stays: whoever
 * works on it loses nothing by a change of what is left to do. A follow-up has a revision of its own, which an update
 * must name. Its row, an entry in the changelog of the incident and the event commit together, and so does what makes
 * its ticket due (`trackers`); a deleted one is gone, and that entry has what it was. An owner is an active user by the replica, or the one that the follow-up has already.
 * Lists read rows until they have enough, or have compared as much as a page may.
 */
import { checkRevision, type KeyedOutcome } from '@tocsin/http';
import { insertEvents, type NewEvent } from '@tocsin/messaging';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Caller } from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';
import { humanId, type Incident } from '../incidents/domain/incident.ts';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import { checkReferences, refusalOf } from '../incidents/references.ts';
import { type Attempt, type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { type Author, authorOf, creatorOf, insertEntryOfParts, publishedActor } from '../incidents/save-incident.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import {
  changeFollowUp,
  checkRoomForFollowUps,
  changesFrom,
  changesTo,
  type FollowUp,
  type FollowUpProperties,
  followUpSnapshot,
  newFollowUp,
} from './domain/follow-up.ts';
import {
  deletionOfFollowUp,
  followUpStore,
  insertFollowUp,
  nextFollowUp,
  updateOfFollowUp,
} from './store/follow-up-store.ts';
import { newTicket, ticketStateOf, type TicketedFollowUp } from './domain/ticket.ts';
import { dueTicket, findAutomaticTracker, findTickets, insertTicket } from './store/ticket-store.ts';

interface CreateCommand extends Caller {
  incidentId: number;
  properties: Partial<FollowUpProperties> & Pick<FollowUpProperties, 'title'>;
  outcome: KeyedOutcome<TicketedFollowUp> | undefined;
}

/**
 * Adds a follow-up to an active incident (contract: Follow-ups).
 * @throws DomainError `not_found`, `invalid_resource_state`, `invalid_request`, in this order
 */
export async function createFollowUp(
  dependencies: CommandDependencies,
  command: CreateCommand,
): Promise<TicketedFollowUp> {
  const { principal, incidentId, properties, outcome } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    replicas: refersToOwner(properties) ? ['users'] : [],
    outcome,
    reads: async (trx, attempt) => {
      const incident = await incidentStore(trx, workspace.id).getForUpdate(incidentId);
      const [next] = await query(trx, nextFollowUp(workspace.id, incidentId));
      const owner = await refusalOf(checkOwner(trx, command, { properties, attempt }));
      const isOpen = (properties.status ?? 'open') === 'open';
      const trackerId = isOpen ? await findAutomaticTracker(trx, incident) : undefined;
      return { incident, next: next as { id: number; count: number }, trackerId, ...owner };
    },
    decides: ({ incident, next: { id, count }, trackerId, refusal }, { checkStorage, now }) => {
      checkWritable(incident);
      checkRoomForFollowUps(count + 1);
      if (refusal !== undefined) throw refusal;
      checkStorage('addition');
      const followUp = newFollowUp({ id, incidentId, ...creatorOf(command) }, properties, now);
      const record = recordOf(authorOf(command), 'follow_up.created', { incident, followUp, now });
      const ticket = trackerId === undefined ? null : newTicket({ followUpId: id, trackerId });
      const tickets = ticket === null ? [] : [insertTicket(workspace.id, ticket, now)];
      return {
        stores: [insertFollowUp(workspace.id, followUp), ...tickets, ...record],
        answer: () => ({ followUp, ticket }),
      };
    },
  });
}

interface UpdateCommand extends Caller {
  id: number;
  expectedRevision: number;
  changes: Partial<FollowUpProperties>;
}

/**
 * Changes properties of a follow-up of an active incident (contract: Follow-ups). Values equal to the stored ones change
 * nothing.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateFollowUp(
  dependencies: CommandDependencies,
  command: UpdateCommand,
): Promise<TicketedFollowUp> {
  const { principal, id, expectedRevision, changes } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    replicas: refersToOwner(changes) ? ['users'] : [],
    reads: async (trx, attempt) => {
      const locked = await lockFollowUp(trx, workspace.id, id);
      const options = { properties: changes, before: locked.followUp, attempt };
      const ticket = (await findTickets(trx, workspace.id, [id])).get(id) ?? null;
      return { ...locked, ticket, ...(await refusalOf(checkOwner(trx, command, options))) };
    },
    decides: ({ incident, followUp: was, ticket, refusal }, { checkStorage, now }) => {
      checkWritable(incident);
      checkRevision(was.revision, expectedRevision);
      if (refusal !== undefined) throw refusal;
      const followUp = changeFollowUp(was, changes, now);
      if (followUp === was) return { stores: [], answer: () => ({ followUp, ticket }) };
      checkStorage('addition');
      const stores = storesOf(authorOf(command), { incident, followUp, was, now });
      const due = ticketStateOf(followUp) === ticketStateOf(was) ? [] : [dueTicket(workspace.id, id, now)];
      return { stores: [...stores, ...due], answer: () => ({ followUp, ticket }) };
    },
  });
}

/**
 * Deletes a follow-up of an active incident (contract: Follow-ups).
 * @throws DomainError `not_found`, `invalid_resource_state`, in this order
 */
export async function deleteFollowUp(
  dependencies: CommandDependencies,
  command: Caller & { id: number },
): Promise<void> {
  const { workspace } = command.principal;
  await runCommand(dependencies, {
    workspace,
    reads: async (trx) => lockFollowUp(trx, workspace.id, command.id),
    decides: ({ incident, followUp }, { now }) => {
      checkWritable(incident);
      const record = recordOf(authorOf(command), 'follow_up.deleted', { incident, followUp, now });
      return { stores: [deletionOfFollowUp(workspace.id, followUp.id), ...record], answer: () => undefined };
    },
  });
}

/** Locks the incident, and reads the follow-up then. @throws DomainError `not_found` */
export async function lockFollowUp(trx: Knex.Transaction, workspaceId: number, id: number) {
  const store = followUpStore(trx, workspaceId);
  const incident = await incidentStore(trx, workspaceId).getForUpdate(await store.getIncidentId(id));
  return { incident, followUp: await store.get(id) };
}

const refersToOwner = ({ owner = '' }: Partial<FollowUpProperties>) => owner !== '';

/** An owner that the follow-up has already may stay. @throws DomainError `invalid_request` naming `owner` */
async function checkOwner(
  trx: Knex.Transaction,
  { principal: { workspace } }: Caller,
  options: { properties: Partial<FollowUpProperties>; before?: FollowUp; attempt: Attempt },
): Promise<void> {
  const { properties, before, attempt } = options;
  const { owner: id = '' } = properties;
  if (id === '' || id === before?.owner) return;
  const references = [{ field: 'owner', refersTo: 'user' as const, id }];
  await checkReferences(trx, { workspace, references, freshness: attempt.freshness });
}

interface Changed {
  incident: Incident;
  followUp: FollowUp;
  was: FollowUp;
  now: Instant;
}

/** What stores a change of a follow-up, with its entry in the changelog and its event. */
export const storesOf = (author: Author, changed: Changed): Statement[] => [
  updateOfFollowUp(author.workspace.id, changed.followUp),
  ...recordOf(author, 'follow_up.updated', changed),
];

/** The entry in the changelog of the incident, and the event. */
function recordOf(
  author: Author,
  type: 'follow_up.created' | 'follow_up.updated' | 'follow_up.deleted',
  { incident, followUp, was, now }: Omit<Changed, 'was'> & Partial<Changed>,
): Statement[] {
  const { workspace, requestId } = author;
  const changes = type === 'follow_up.deleted' ? changesFrom(followUp) : changesTo(followUp, was);
  const event: NewEvent = {
    ...{ type, occurredAt: now, workspace, requestId, restricted: incident.restricted },
    data: {
      incident: { id: incident.id, reference: humanId(incident.number) },
      follow_up: followUpSnapshot(followUp),
      ...publishedActor(author),
    },
  };
  return [insertEntryOfParts({ author, incident, changes, now }), insertEvents([event])];
}
