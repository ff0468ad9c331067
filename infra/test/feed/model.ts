import type { Envelope } from '@tocsin/contracts';
import type { Client } from '@tocsin/testing';

/** What a reader of the feed knows: the newest state of each resource, by kind and ID. */
export type Model = Map<string, object>;

interface Versioned {
  id: number;
  revision: number;
}

/** Replays events into an empty model; of two events about a resource, the one with the larger revision counts. */
export function replay(events: readonly Envelope[]): Model {
  const known = new Map<string, { revision: number; state: object | undefined }>();
  for (const { type, data } of events) {
    const { incident, timeline_event: event, service, team, field } = data as Record<string, Versioned | undefined>;
    const [kind, resource] =
      event !== undefined
        ? (['timeline_event', event] as const)
        : (Object.entries({ incident, service, team, field }).find(([, value]) => value !== undefined) ?? []);
    if (resource === undefined || kind === undefined) continue;
    const name = `${kind} ${resource.id}`;
    // A timeline event is as new as its incident.
    const { revision } = event === undefined ? resource : (incident as Versioned);
    if ((known.get(name)?.revision ?? 0) > revision) continue;
    known.set(name, { revision, state: type === 'timeline_event.deleted' ? undefined : resource });
  }
  return new Map([...known].flatMap(([name, { state }]) => (state === undefined ? [] : [[name, state]])));
}

async function readAll<Row>(client: Client, path: string, name: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const { body } = await client.get(`${path}${path.includes('?') ? '&' : '?'}limit=100${cursor}`);
    rows.push(...(body[name] as Row[]));
    const next = body.pagination.next_cursor as string | undefined;
    cursor = next === undefined ? undefined : `&cursor=${next}`;
  }
  return rows;
}

/**
 * Reads what the API lists, as far as the feed tells it: `model` decides which properties are compared. The API leaves
 * out some properties that are null.
 */
export async function stateOf(client: Client, model: Model): Promise<Model> {
  const state: Model = new Map();
  const add = (kind: string, resource: Versioned & Record<string, unknown>) => {
    const name = `${kind} ${resource.id}`;
    const names = Object.keys(model.get(name) ?? resource);
    const own = { ...resource, ...('human_id' in resource && { reference: resource['human_id'] }) };
    state.set(
      name,
      Object.fromEntries(names.map((property) => [property, (own as Record<string, unknown>)[property] ?? null])),
    );
  };
  const incidents = [
    ...(await readAll<Versioned & { event_count: number }>(client, '/api/v1/incidents', 'incidents')),
    ...(await readAll<Versioned & { event_count: number }>(client, '/api/v1/incidents/archived', 'incidents')),
  ];
  for (const incident of incidents) {
    add('incident', incident as never);
    if (incident.event_count === 0) continue;
    const path = `/api/v1/incidents/${incident.id}/timeline`;
    for (const event of await readAll<Versioned>(client, path, 'events')) add('timeline_event', event as never);
  }
  for (const service of await readAll<Versioned>(client, '/api/v1/services?include_archived=true', 'services')) {
    add('service', service as never);
  }
  for (const field of await readAll<Versioned>(client, '/api/v1/custom-fields', 'fields')) add('field', field as never);
  return state;
}
