import type { EventContext, EventContextQuery } from '@tocsin/schemas';
import type { Filters } from './destination.ts';

type Properties = Readonly<Record<string, unknown>>;

/** What an event means to a pager: whether the incident began or ended to pass the filters, or somebody acts on it. */
type Phase = 'began' | 'acted' | 'ended' | 'went on';

/** An event in words. Texts have no markup; those without a meaning for it are empty. */
export interface Described {
  id: string;
  type: string;
  occurred_at: string;
  /** Slug of the workspace. */
  workspace: string;
  /** `INC-4`, or the kind of what it is about. */
  reference: string;
  /** Of the incident in the console. */
  url: string;
  title: string;
  what: string;
  /** Labels. */
  severity: string;
  status: string;
  /** Its slug. */
  service: string;
  by: string;
  phase: Phase;
  /** The same for all events of an incident. */
  key: string;
  /** Of the severity; 0: the worst. */
  rank: number;
  /** The event as the feed has it. */
  body: string;
}

export interface FeedEventText {
  type: string;
  body: string;
}

interface ParsedEvent {
  id: string;
  type: string;
  occurred_at: string;
  workspace: { id: number; slug: string };
  data: Properties;
}

const isObject = (value: unknown): value is Properties =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

const USER_ID = /^[1-9]\d{0,14}$/;

/** What has to be known to describe events: incidents of which they have only a reference, and the names of people. */
export function askedOf(
  events: readonly FeedEventText[],
): Pick<EventContextQuery, 'incident_ids' | 'user_ids' | 'services'> {
  const incidents = new Set<number>();
  const users = new Set<number>();
  const services = new Set<string>();
  for (const { body } of events) {
    const { incident, actor, changes } = (JSON.parse(body) as ParsedEvent).data;
    if (isObject(incident) && !('title' in incident)) incidents.add(Number(incident['id']));
    if (isObject(incident)) services.add(textOf(incident['service']));
    const people = Array.isArray(changes) ? (changes as Properties[]).flatMap(peopleOf) : [];
    for (const person of [actor, ...people]) if (USER_ID.test(textOf(person))) users.add(Number(person));
  }
  return { incident_ids: [...incidents], user_ids: [...users], services: [...services] };
}

const OF_PEOPLE = new Set(['incident_manager', 'incident_responders']);

const peopleOf = ({ field, from, to }: Properties): unknown[] =>
  OF_PEOPLE.has(textOf(field)) ? [from, to].flat() : [];

/** The address of an incident in the console; empty: not known. */
export type LinkOf = (workspace: string, incident: Properties) => string;

/**
 * Returns an event in words; undefined if the filters do not select it. Where a change begins or ends that, it passes, and
 * says so in its phase.
 */
export function describeEvent(
  { type, body }: FeedEventText,
  { filters, context, linkOf }: { filters: Filters; context: EventContext; linkOf: LinkOf },
): Described | undefined {
  const { event_types: types } = filters;
  if (types.length > 0 && !(types as readonly string[]).includes(type)) return undefined;
  const event = JSON.parse(body) as ParsedEvent;
  const { id, occurred_at, workspace, data } = event;
  const { incident: part, changes: changed, actor, api_key: key, ...others } = data;
  const changes = Array.isArray(changed) ? (changed as Properties[]) : [];
  const other = Object.values(others).find(isObject) ?? {};
  const by = actorOf(actor, key, context);
  const common = { id, type, occurred_at, workspace: workspace.slug, by, body, key: `tocsin/${workspace.slug}/${id}` };
  if (type.startsWith('timeline_event.') && !has(filters.timeline_types, other['type'])) return undefined;
  if (!isObject(part)) {
    if (!passesOfCatalog(filters, type, other)) return undefined;
    const kind = type.slice(0, type.indexOf('.'));
    const what = [type.replaceAll(/[._-]/g, ' '), by === '' ? '' : `by ${by}`].filter(Boolean).join(' ');
    const none = { url: '', severity: '', status: '', service: '', phase: 'went on', rank: 3 } as const;
    return { ...common, ...none, reference: kind, title: textOf(other['name']), what };
  }
  const stored = context.incidents.find((each) => each.id === part['id']);
  const incident: Properties = { ...stored, ...part };
  const before = { ...incident, ...Object.fromEntries(changes.map(({ field, from }) => [textOf(field), from])) };
  const passes = (state: Properties) => passesOfIncident(filters, state, context);
  const [passed, isPassing] = [passes(before), passes(incident)];
  if (!passed && !isPassing) return undefined;

  const isOpen = (state: Properties) => !isTerminal(state, context) && textOf(state['archived_at']) === '';
  const wasBegun = passed && type !== 'incident.created' && type !== 'incident.restored' && isOpen(before);
  const isBegun = isPassing && type !== 'incident.archived' && type !== 'incident.deleted' && isOpen(incident);
  const rank = context.severities.findIndex((each) => each.key === incident['severity']);
  return {
    ...common,
    reference: textOf(incident['reference']),
    url: linkOf(workspace.slug, incident),
    title: textOf(incident['title']),
    what: whatHappened(type, { incident, by, changes, other, context }),
    severity: labelOf(context.severities, incident['severity']),
    status: labelOf(context.statuses, incident['status']),
    service: textOf(incident['service']),
    phase: phaseOf(type, { wasBegun, isBegun, isByPerson: isByPerson(incident, actor, key) }),
    key: `tocsin/${workspace.slug}/${textOf(incident['reference'])}`,
    rank: rank === -1 ? 3 : rank,
  };
}

function phaseOf(
  type: string,
  { wasBegun, isBegun, isByPerson: isPerson }: { wasBegun: boolean; isBegun: boolean; isByPerson: boolean },
): Phase {
  if (isBegun && !wasBegun) return type === 'incident.imported' ? 'went on' : 'began';
  if (wasBegun && !isBegun) return 'ended';
  if (type === 'incident.archived' || type === 'incident.deleted') return 'ended';
  return isBegun && isPerson ? 'acted' : 'went on';
}

/** Tokens of sessions begin so. */
const SESSION = 'tcn_';

/** Whether somebody does it by hand, or is another one than who declared the incident. */
const isByPerson = (incident: Properties, actor: unknown, key: unknown): boolean =>
  USER_ID.test(textOf(actor)) &&
  (actor !== incident['created_by'] || (isObject(key) && textOf(key['prefix']).startsWith(SESSION)));

const isTerminal = ({ status }: Properties, { statuses }: EventContext) =>
  statuses.some(({ key, is_terminal }) => key === status && is_terminal);

const has = (chosen: readonly unknown[], value: unknown) => chosen.length === 0 || chosen.includes(value);

function passesOfIncident(filters: Filters, state: Properties, { services }: EventContext): boolean {
  const { severities, statuses, services: slugs, team_ids: teams, roles } = filters;
  const team = state['team_id'] ?? services.find(({ slug }) => slug === state['service'])?.owner_team_id ?? null;
  const people = isObject(state['roles']) ? state['roles'] : {};
  const held = Object.entries(people).flatMap(([key, ids]) => [
    key,
    ...[ids].flat().map((id) => `${key}:${String(id)}`),
  ]);
  return (
    has(severities, state['severity']) &&
    has(statuses, state['status']) &&
    has(slugs, state['service']) &&
    has(teams, team) &&
    (roles.length === 0 || roles.some((role) => held.includes(role)))
  );
}

/** Of a service, a team or a custom field. */
function passesOfCatalog(filters: Filters, type: string, resource: Properties): boolean {
  const { severities, statuses, services, team_ids: teams, roles } = filters;
  if (severities.length + statuses.length + roles.length > 0) return false;
  const slug = type === 'service.changed' ? resource['slug'] : undefined;
  const team = type === 'team.changed' ? resource['id'] : resource['owner_team_id'];
  return has(services, slug) && has(teams, team);
}

const labelOf = (list: EventContext['severities'], key: unknown): string =>
  list.find((each) => each.key === key)?.label ?? textOf(key);

const nameOf = ({ users }: EventContext, id: unknown): string =>
  users.find((user) => String(user.id) === id)?.name ?? textOf(id);

/** A key by its name, and a session by that of its person. */
function actorOf(actor: unknown, key: unknown, context: EventContext): string {
  const name = nameOf(context, textOf(actor));
  return !isObject(key) || textOf(key['prefix']).startsWith(SESSION) ? name : `${textOf(key['name'])} (key of ${name})`;
}

/** The type of timeline events that are for those who are not in the incident. */
const UPDATE = 'update';

/** Characters of a value that changed. */
const SHOWN = 200;

/** `declared by Ana: SEV-1, Open, checkout`, `Status: Open → Monitoring, by Ana`, `note by Ana: Rolled back` */
function whatHappened(
  type: string,
  {
    incident,
    by,
    changes,
    other,
    context,
  }: { incident: Properties; by: string; changes: Properties[]; other: Properties; context: EventContext },
): string {
  const [resource = '', verb = ''] = type.split('.');
  const byText = by === '' ? '' : ` by ${by}`;
  if (resource !== 'incident') {
    const thing = resource === 'follow_up' ? 'follow-up' : other['type'] === UPDATE ? UPDATE : 'note';
    const head = verb === 'created' && thing !== 'follow-up' ? `${thing}${byText}` : `${thing} ${verb}${byText}`;
    return [head, textOf(other['title']), textOf(other['body'])].filter((text) => text !== '').join(': ');
  }
  if (verb === 'created') {
    const facts = [
      labelOf(context.severities, incident['severity']),
      labelOf(context.statuses, incident['status']),
      textOf(incident['service']),
    ];
    return `declared${byText}: ${facts.filter((fact) => fact !== '').join(', ')}`;
  }
  if (verb === 'update_due') return 'the next update is due';
  if (verb === 'postmortem_changed') return `post-mortem ${stepOf(other)}${byText}`;
  if (verb !== 'updated' || changes.length === 0) return verb + byText;
  const shown = changes.map(({ field, from, to }) => {
    const [old, present] = [from, to].map((value) => valueOf(textOf(field), value, context).slice(0, SHOWN) || 'none');
    return `${textOf(field).replaceAll('_', ' ')} ${old} → ${present}`;
  });
  return shown.join('; ') + (by === '' ? '' : `, by ${by}`);
}

/** What has happened to a post-mortem. A state of a later release is named as it is. */
function stepOf({ state, previous_state: was }: Properties): string {
  if (was === null) return 'begun';
  if (state === 'in_review') return 'put into review';
  return state === 'draft' ? 'made a draft again' : textOf(state);
}

function valueOf(field: string, value: unknown, context: EventContext): string {
  if (field === 'severity') return labelOf(context.severities, value);
  if (field === 'status') return labelOf(context.statuses, value);
  if (!OF_PEOPLE.has(field)) return textOf(value);
  return [value]
    .flat()
    .map((id) => nameOf(context, id))
    .filter((name) => name !== '')
    .join(', ');
}
