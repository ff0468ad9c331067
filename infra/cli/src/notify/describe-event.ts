import type { FeedEvent, Tocsin } from '@tocsin/sdk';
import type { Filters } from './filters.ts';
import type { Values } from './template.ts';

type Properties = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Properties =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

/** Returns what finds the values of an event; undefined if the filters do not select it. */
export function eventDescriber(tocsin: Tocsin, filters: Filters, consoleUrl: string, signal: AbortSignal) {
  const options = { signal, retries: Infinity };
  /** Undefined if there is no such resource, or the key may not read it. */
  const absent = (error: unknown) => {
    if (![403, 404].includes((error as { status?: number }).status ?? 0)) throw error;
  };
  /** An incident's own team, or the one that owns its service. */
  async function teamOf({ team_id: team, service: slug }: Properties): Promise<unknown> {
    if (typeof team === 'number' || typeof slug !== 'string' || slug === '') return team;
    return (await Array.fromAsync(tocsin.services.list({ slug }, options)).catch(absent))?.[0]?.owner_team_id;
  }

  /** What acted: a key by its name, and a session by that of its person. */
  async function actorOf(actor: unknown, key: unknown): Promise<string> {
    const id = textOf(actor);
    const user = /^[1-9]\d*$/.test(id) ? await tocsin.users.getName(Number(id), options).catch(absent) : undefined;
    const name = user?.user.name ?? id;
    if (!isObject(key) || textOf(key['prefix']).startsWith('tcn_')) return name;
    return `${textOf(key['name'])} (key of ${name})`;
  }

  return async ({ type, occurred_at, workspace, restricted, data }: FeedEvent): Promise<Values | undefined> => {
    if (restricted === true && !filters.includesRestricted) return undefined;
    const { incident, changes: changed, actor, api_key: key, ...others } = data as Properties;
    const other = Object.values(others).find(isObject);
    const changes = Array.isArray(changed) ? (changed as Properties[]) : [];
    const before = (field: string) => changes.find((change) => change['field'] === field)?.['from'];
    const id = isObject(incident) ? Number(incident['id']) : undefined;
    // Events of a timeline have only the reference of the incident.
    const isPart = id !== undefined && !('title' in (incident as object));
    const whole = isPart ? await tocsin.incidents.get(id, options).catch(absent) : undefined;
    const properties: Properties = { ...whole?.incident, ...(incident as object) };

    const { severities, teams } = filters;
    if (
      severities !== undefined &&
      ![properties['severity'], before('severity')].some((key) => severities.has(textOf(key)))
    )
      return undefined;
    if (teams !== undefined) {
      const ofCatalog = type === 'team.changed' ? other?.['id'] : other?.['owner_team_id'];
      const ids = [ofCatalog, before('team_id'), await teamOf(properties)];
      if (!ids.some((id) => teams.has(Number(id)))) return undefined;
    }
    const reference = id === undefined ? type.slice(0, type.indexOf('.')) : textOf(properties['reference']);
    const by = actor === undefined ? '' : await actorOf(actor, key);
    return {
      ...{ type, occurred_at, workspace: workspace.slug, reference, by },
      url: id === undefined ? '' : new URL(`/app/incidents/${encodeURIComponent(reference)}`, consoleUrl).href,
      title: textOf(id === undefined ? other?.['name'] : properties['title']),
      what: whatHappened(type, { properties, by, changes, other: id === undefined ? undefined : other }),
      ...{
        severity: textOf(properties['severity']),
        status: textOf(properties['status']),
        service: textOf(properties['service']),
      },
    };
  };
}

/** `declared by Ana, sev1, open`, `status open → monitoring`, `timeline event created by Ana: Rolled back` */
function whatHappened(
  type: string,
  {
    properties,
    by,
    changes,
    other,
  }: { properties: Properties; by: string; changes: Properties[]; other: Properties | undefined },
): string {
  const byText = by === '' ? '' : ` by ${by}`;
  if (other !== undefined)
    return [type.replaceAll(/[._]/g, ' ') + byText, textOf(other['title']), textOf(other['body'])]
      .filter(Boolean)
      .join(': ');
  if (type === 'incident.created')
    return [`declared${byText}`, properties['severity'], properties['status'], properties['service']]
      .map(textOf)
      .filter(Boolean)
      .join(', ');
  const verb = type.slice(type.indexOf('.') + 1);
  if (verb !== 'updated') return verb;
  const shown = changes.map(({ field, from, to }) => {
    const [old, present] = [from, to].map((value) => textOf(value).slice(0, 200) || 'none');
    return `${textOf(field)} ${old} → ${present}`;
  });
  return shown.join('; ') || verb;
}
