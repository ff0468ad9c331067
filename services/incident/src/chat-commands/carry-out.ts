import { DomainError } from '@tocsin/http';
import { boundedCache, ENTRY_BYTES } from '@tocsin/runtime';
import { fold, type Principal } from '@tocsin/schemas';
import { ChatError, type ChatPerson } from '../chat/clients/chat.ts';
import type { Chats } from '../chat/chats.ts';
import type { Configurations } from '../configuration/store/configuration-store.ts';
import type { Owners } from '../replicas/clients/owners.ts';
import { parseCommand, type SlashCommand, USAGE } from './domain/slash-command.ts';
import type { ChatRequest } from './domain/slack-request.ts';
import { plainText } from './domain/slack-text.ts';
import type { CommandedIncident, Operations } from './operations.ts';

interface CommandDependencies {
  chats: Chats;
  owners: Pick<Owners, 'findActingUser' | 'findPeople'>;
  configurations: Configurations;
  operations: Operations;
}

/** A request, and who asks. */
interface Asking {
  workspaceId: number;
  principal: Principal;
  request: ChatRequest;
}

type FindPerson = (workspaceId: number, chatUserId: string) => Promise<ChatPerson | undefined>;

/** Why nothing was done, for whoever has asked. */
class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Milliseconds for which names and addresses of people in the chat are kept. */
const PERSON_TTL = 300_000;
const PERSON_BYTES = 2 * 1_048_576;
/** Characters of an email address. */
const MAX_EMAIL = 254;
/** How often a change is tried again after another one came first. */
const ATTEMPTS = 3;

/** Does what people ask for in the chat, each as the user with their email address. */
export function carryOut(dependencies: CommandDependencies) {
  const { owners, chats } = dependencies;
  const people = boundedCache<string, ChatPerson>({
    ...{ bytes: PERSON_BYTES, ttl: PERSON_TTL },
    sizeOf: ({ name, email = '' }, key) => ENTRY_BYTES + 2 * (name.length + email.length + key.length),
  });

  const findPerson = async (workspaceId: number, chatUserId: string): Promise<ChatPerson | undefined> => {
    const key = `${workspaceId}/${chatUserId}`;
    const cached = people.get(key);
    if (cached !== undefined) return cached;
    const connected = await chats.find(workspaceId, 'request');
    const person = await connected?.chat.findPerson(chatUserId);
    if (person?.email !== undefined) people.set(key, person);
    return person;
  };

  const emailOf = async (workspaceId: number, chatUserId: string): Promise<string> => {
    const { email = '' } = (await findPerson(workspaceId, chatUserId)) ?? {};
    if (email !== '' && email.length <= MAX_EMAIL) return email;
    throw new Refusal(
      'Slack tells no confirmed email address. It does so of members of this Slack, if the app has the scopes users:read and users:read.email.',
    );
  };

  /** @throws Refusal if nobody in Tocsin has the address */
  const askerOf = async (workspaceId: number, { userId }: ChatRequest): Promise<Principal> => {
    const email = await emailOf(workspaceId, userId);
    const principal = await owners.findActingUser(workspaceId, email);
    if (principal !== undefined) return principal;
    throw new Refusal(
      `No active user of Tocsin has your address in Slack, ${email}. Ask an administrator to add you, or change one of the addresses.`,
    );
  };

  /** The ID, as text, of the user of Tocsin who is this person in the chat. */
  const userOf = async (workspaceId: number, chatUserId: string): Promise<string> => {
    const email = await emailOf(workspaceId, chatUserId);
    const [user] = (await owners.findPeople(workspaceId, { emails: [email] })).filter(({ active }) => active);
    if (user === undefined) throw new Refusal(`No active user of Tocsin has the address ${email}.`);
    return String(user.id);
  };

  return async (workspaceId: number, request: ChatRequest): Promise<{ outcome: 'done' | 'refused'; text: string }> => {
    try {
      const command = request.kind === 'command' ? parseCommand(request.text) : undefined;
      if (command !== undefined && 'problem' in command) throw new Refusal(command.problem);
      if (command?.name === 'help') return { outcome: 'done', text: USAGE };
      const asking = { workspaceId, principal: await askerOf(workspaceId, request), request };
      const text =
        command === undefined
          ? await addToTimeline({ ...dependencies, findPerson }, asking)
          : await runCommand({ ...dependencies, userOf }, asking, command);
      return { outcome: 'done', text };
    } catch (error) {
      return { outcome: 'refused', text: refusalOf(error) };
    }
  };
}

/** @throws the error, unless it says why nothing was done */
function refusalOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof ChatError) return `Slack did not help: ${error.message}.`;
  if (!(error instanceof DomainError) || error.status >= 500) throw error;
  const { code, message, field } = error;
  if (code === 'missing_role_permission' || code === 'responder_seat_required')
    return `You may not do this in Tocsin: ${message}.`;
  return field === undefined ? `${message}.` : `${field}: ${message}.`;
}

const nameOf = ({ human_id: reference, title }: CommandedIncident): string => `${reference} (${title})`;

/** Finds the incident that a request is about. @throws Refusal, DomainError `not_found` */
async function findIncident(
  { operations }: CommandDependencies,
  { principal, request: { channelId } }: Asking,
  reference: string | undefined,
): Promise<CommandedIncident> {
  const number = reference === undefined ? await operations.findNumberOfChannel(principal, channelId) : undefined;
  if (reference === undefined && number === undefined)
    throw new Refusal('No incident that you may see has this channel. Name one, such as INC-12.');
  const params = { reference: reference ?? `INC-${number}` };
  return operations.runOnIncident('getIncidentByReference', { principal, params });
}

type IncidentChange = Partial<Pick<CommandedIncident, 'status' | 'severity' | 'incident_manager'>>;

/** Changes an incident as it is now, again if somebody else has changed it meanwhile. */
async function change(
  dependencies: CommandDependencies,
  asking: Asking,
  { reference, body }: { reference: string | undefined; body: IncidentChange },
): Promise<CommandedIncident> {
  const { principal } = asking;
  for (let attempt = 1; ; attempt += 1) {
    const { id, revision } = await findIncident(dependencies, asking, reference);
    try {
      const call = { principal, params: { id }, body, expectedRevision: revision };
      return await dependencies.operations.runOnIncident('updateIncident', call);
    } catch (error) {
      const isStale = error instanceof DomainError && error.code === 'precondition_failed';
      if (!isStale || attempt === ATTEMPTS) throw error;
    }
  }
}

/** The entry with this key or label. @throws Refusal that lists the entries */
function choose<Entry extends { key: string; label: string }>(
  entries: readonly Entry[],
  text: string,
  what: string,
): Entry {
  const folded = fold(text);
  const entry =
    entries.find(({ key }) => key === text) ??
    entries.find(({ key, label }) => fold(key) === folded || fold(label) === folded);
  if (entry !== undefined) return entry;
  const all = entries.map(({ key, label }) => (fold(key) === fold(label) ? label : `${key} (${label})`));
  throw new Refusal(`There is no ${what} “${text}”. There are: ${all.join(', ')}.`);
}

/** @returns the answer @throws Refusal, DomainError */
async function runCommand(
  dependencies: CommandDependencies & { userOf: (workspaceId: number, chatUserId: string) => Promise<string> },
  asking: Asking,
  command: Exclude<SlashCommand, { name: 'help' }>,
): Promise<string> {
  const { operations, configurations, userOf } = dependencies;
  const { principal, workspaceId, request } = asking;
  const idempotencyKey = keyOf(request.id);
  if (command.name === 'declare') {
    const { title, severity, service } = command;
    const { severities } = await configurations.get(principal.workspace);
    const body = {
      title,
      ...(severity !== undefined && { severity: choose(severities, severity, 'severity').key }),
      ...(service !== undefined && { service }),
    };
    return `${nameOf(await operations.runOnIncident('createIncident', { principal, body, idempotencyKey }))} is declared.`;
  }
  const { reference } = command;
  if (command.name === 'resolve') {
    const incident = await findIncident(dependencies, asking, reference);
    const call = { principal, params: { id: incident.id } };
    return `${nameOf(await operations.runOnIncident('resolveIncident', call))} is resolved.`;
  }
  if (command.name === 'lead') {
    const { person } = command;
    const user = person === undefined ? String(principal.user_id) : await userOf(workspaceId, person);
    const changed = await change(dependencies, asking, { reference, body: { incident_manager: user } });
    return `${nameOf(changed)} has its lead.`;
  }
  if (command.name === 'status' || command.name === 'severity') {
    const { statuses, severities } = await configurations.get(principal.workspace);
    const entries: readonly { key: string; label: string }[] = command.name === 'status' ? statuses : severities;
    const { key, label } = choose(entries, command.text, command.name);
    const changed = await change(dependencies, asking, { reference, body: { [command.name]: key } });
    return `${nameOf(changed)} has the ${command.name} ${label}.`;
  }
  const { text } = command;
  const incident = await findIncident(dependencies, asking, reference);
  const call = { principal, params: { id: incident.id }, idempotencyKey };
  if (command.name === 'update')
    await operations.run('createTimelineEvent', { ...call, body: { body: text, type: 'update' } });
  else await operations.run('createFollowUp', { ...call, body: { title: text } });
  return `${nameOf(incident)} has ${command.name === 'update' ? 'it in its timeline' : 'the follow-up'}.`;
}

/** @returns the answer @throws Refusal, DomainError, ChatError */
async function addToTimeline(
  dependencies: CommandDependencies & { findPerson: FindPerson },
  asking: Asking,
): Promise<string> {
  const { chats, operations, findPerson } = dependencies;
  const { principal, workspaceId, request } = asking;
  if (request.kind !== 'add_to_timeline') throw new Error('this is no message');
  const { message, channelId } = request;
  const incident = await findIncident(dependencies, asking, undefined);
  const connected = await chats.find(workspaceId, 'request');
  if (connected === undefined) throw new ChatError('not_connected', 'The workspace has no connection');
  const link = await connected.chat.getPermalink(channelId, message.ts);
  const at = new Date(Math.floor(Number(message.ts) * 1_000)).toISOString();
  // Somebody else may have added it, for whom it has another idempotency key.
  if (await operations.hasEventWith(principal, { incidentId: incident.id, at, text: link }))
    return `${nameOf(incident)} has the message in its timeline.`;
  const text = plainText(message.text);
  const author = message.user === undefined ? undefined : await findPerson(workspaceId, message.user);
  const name = author?.name ?? message.username ?? '';
  const body = `${text === '' ? 'A message without text' : text}\n\n${name === '' ? '' : `${name}: `}${link}`;
  await operations.run('createTimelineEvent', {
    ...{ principal, params: { id: incident.id }, body: { body, started_at: at } },
    idempotencyKey: keyOf(`${channelId}:${message.ts}`),
  });
  return `${nameOf(incident)} has the message in its timeline.`;
}

const keyOf = (id: string): string => `slack:${id}`.slice(0, 128);
