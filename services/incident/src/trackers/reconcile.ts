import { randomUUID } from 'node:crypto';
import { query } from '@tocsin/postgres';
import { workspaceUrl } from '@tocsin/runtime';
import { ticketStateOf, type TicketState } from '../follow-ups/domain/ticket.ts';
import { changeFollowUp, type FollowUp } from '../follow-ups/domain/follow-up.ts';
import { lockFollowUp, storesOf } from '../follow-ups/follow-ups.ts';
import { followUpStore } from '../follow-ups/store/follow-up-store.ts';
import { humanId, type Incident } from '../incidents/domain/incident.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import type { Owners } from '../replicas/clients/owners.ts';
import { KINDS_BY_NAME } from './clients/kinds/index.ts';
import type { NewTicket } from './clients/kinds/kind.ts';
import type { TrackerApi } from './clients/tracker-api.ts';
import { ticketFailure } from './clients/tracker-failure.ts';
import { decide } from './domain/agreement.ts';
import { agreement, type ClaimedTicket, ticketLease } from './store/sync-store.ts';

export interface ReconcileDependencies extends CommandDependencies {
  owners: Pick<Owners, 'findPeople'>;
  /** Where people reach workspaces, with a place for the slug; undefined: not known. */
  publicUrl: string | undefined;
}

/** A ticket that exists. */
type LinkedTicket = ClaimedTicket & { key: string };

/** What came of a look at a ticket; undefined: somebody else holds it, or has unlinked it. */
export type Agreed = { state: TicketState; agreedAt: string } | undefined;

/**
 * Makes the ticket, if there is none, and both sides agree (contract: Trackers). What a crash interrupts the next call
 * finishes.
 * @throws TrackerFailure; DomainError if the follow-up cannot change now
 */
export async function reconcile(
  dependencies: ReconcileDependencies,
  { ticket, api }: { ticket: ClaimedTicket; api: TrackerApi },
): Promise<Agreed> {
  const linked = ticket.key === null ? await makeTicket(dependencies, { ticket, api }) : { ...ticket, key: ticket.key };
  return linked && agree(dependencies, { ticket: linked, api });
}

/** Makes the ticket, or finds the one of an earlier attempt. */
async function makeTicket(
  { database, clock, owners, publicUrl }: ReconcileDependencies,
  { ticket, api }: { ticket: ClaimedTicket; api: TrackerApi },
): Promise<LinkedTicket | undefined> {
  const { workspaceId, followUpId, tracker, marker, attemptedAt } = ticket;
  const kind = KINDS_BY_NAME[tracker.kind];
  const lease = ticketLease(database, ticket);
  const followUp = await followUpStore(database, workspaceId).get(followUpId);
  const incident = await incidentStore(database, workspaceId).get(followUp.incidentId);
  if (incident.restricted && !tracker.includeRestricted) throw ticketFailure('restricted');
  const owner = await ownerOf(owners, workspaceId, followUp);
  let created = attemptedAt === null ? undefined : await kind.find(api, tracker, { marker, since: attemptedAt });
  if (created === undefined) {
    if (!(await lease.attempt(clock.now()))) return undefined;
    const link = publicUrl && `${workspaceUrl(publicUrl, tracker.workspace.slug)}/app/incidents/${incident.id}`;
    created = await kind.create(api, tracker, textOf(followUp, { incident, owner, link, marker }));
  }
  const now = clock.now();
  if (!(await lease.link(created, now))) return undefined;
  return { ...ticket, key: created.key, state: 'open', agreedAt: now };
}

/** The name of the owner; what an import has kept is one. */
async function ownerOf(
  owners: ReconcileDependencies['owners'],
  workspaceId: number,
  { owner }: FollowUp,
): Promise<string> {
  if (!/^\d{1,15}$/.test(owner)) return owner;
  const [user] = await owners.findPeople(workspaceId, { ids: [Number(owner)] });
  return user?.name ?? '';
}

function textOf(
  { title, description, dueOn }: FollowUp,
  { incident, owner, link, marker }: { incident: Incident; owner: string; link: string | undefined; marker: string },
): NewTicket {
  const of = `Follow-up of ${humanId(incident.number)}: ${incident.title}`;
  const paragraphs = [
    description,
    link === undefined || link === '' ? of : `${of}\n${link}`,
    owner === '' ? '' : `Owner: ${owner}`,
    dueOn === null ? '' : `Due: ${dueOn}`,
  ];
  return {
    title: title.replaceAll(/\s/g, ' '),
    paragraphs: paragraphs.filter((text) => text.trim() !== ''),
    marker,
  };
}

async function agree(
  dependencies: ReconcileDependencies,
  { ticket, api }: { ticket: LinkedTicket; api: TrackerApi },
): Promise<Agreed> {
  const { database, clock } = dependencies;
  const { workspaceId, followUpId, tracker, key, state: agreed } = ticket;
  const kind = KINDS_BY_NAME[tracker.kind];
  const there = await kind.read(api, key);
  const followUp = await followUpStore(database, workspaceId).get(followUpId);
  const here = ticketStateOf(followUp);
  const side = decide(agreed, { here, there });
  if (side === 'here') return changeHere(dependencies, ticket, there);
  if (side === 'there') await kind.write(api, key, followUp.status);
  const [row] = await query(database, agreement(ticket, here, clock.now()));
  return row && { state: here, agreedAt: row.agreedAt };
}

/** Gives the follow-up the state of its ticket, unless somebody was faster, under the lock of the incident. */
async function changeHere(
  dependencies: ReconcileDependencies,
  ticket: LinkedTicket,
  state: TicketState,
): Promise<Agreed> {
  const { workspaceId, followUpId, tracker } = ticket;
  const { id, slug, is_demo } = tracker.workspace;
  const author = { actor: tracker.kind, key: undefined, workspace: { id, slug, is_demo }, requestId: randomUUID() };
  return runCommand<Agreed, Awaited<ReturnType<typeof lockFollowUp>> & { isHeld: boolean }>(dependencies, {
    workspace: tracker.workspace,
    reads: async (trx) => ({
      ...(await lockFollowUp(trx, workspaceId, followUpId)),
      isHeld: await ticketLease(trx, ticket).isHeld(),
    }),
    decides: ({ incident, followUp: was, isHeld }, { checkStorage, now }) => {
      if (!isHeld) return { stores: [], answer: () => undefined };
      const answer = () => ({ state, agreedAt: now });
      const agreed = agreement(ticket, state, now);
      if (ticketStateOf(was) === state) return { stores: [agreed], answer };
      if (incident.archivedAt !== null) throw ticketFailure('archived');
      checkStorage('addition');
      const followUp = changeFollowUp(was, { status: state }, now);
      return { stores: [...storesOf(author, { incident, followUp, was, now }), agreed], answer };
    },
  });
}
