import { expect } from '@jest/globals';
import type { Client } from '@tocsin/testing';
import {
  type Ids,
  listOf,
  operationOf,
  OPERATIONS,
  readAll,
  readList,
  requestOf,
  REVISION,
  send,
} from './operations.ts';
import { picturesIn } from './shown.ts';

type Resource = Record<string, unknown> & { id: number; archived_at?: string | null };

/** How many resources of a kind get a PATCH of each property alone; all get one of all properties. */
const ALONE = 4;

/** The operations that change the properties of a resource at its revision. */
const PATCHES = Object.entries(OPERATIONS).filter(
  ([, { method, parameters }]) => method === 'PATCH' && parameters.includes(REVISION),
);

/** A part of each incident that has one. */
const POSTMORTEM = 'updateIncidentPostmortem';

/** The others that replace what is stored, in the code below. */
const OTHERS = [
  'replaceConfiguration',
  'replaceRetention',
  'replaceSavedViews',
  'updateIncidentCustomFields',
  'updateTeamMember',
];

/** Those of what the API does not show as it was sent, and why. */
const UNSHOWN: Readonly<Record<string, string>> = {
  replaceWebhookHeaders: 'their values are secret',
  setIncidentChannelName: 'the chat has the name',
  setTeamOnCall: 'its address is secret',
};

/** Properties whose values are secret. */
const WRITE_ONLY: Readonly<Record<string, readonly string[]>> = {
  updateDestination: ['url', 'credential', 'headers'],
  updateTracker: ['url', 'credential'],
};

/** Writes all that a workspace has as it is stored, and checks that each answer shows it unchanged. Returns their number. */
export async function writeTheSame(client: Client): Promise<number> {
  let written = 0;
  const unchanged = async (operation: string, ids: Ids, [body, shown]: readonly [object, unknown]) => {
    const presentRevision = (shown as { revision?: number }).revision;
    const request = await requestOf(client, operation, { ids, body, presentRevision });
    const { status, headers, body: answer, text } = await send(client, request);
    const resource = operation.endsWith('CustomFields') ? answer.values : Object.values(answer as object)[0];
    expect({ operation, body, status, text, shown: stable(resource) }).toEqual({
      ...{ operation, body, status: 200, text, shown: stable(shown) },
    });
    const revision = request.headers['If-Service-Resource-Version'] ?? null;
    expect([operation, headers.get('Service-Resource-Version')]).toEqual([operation, revision]);
    written += 1;
  };
  const incidents = await readList<Resource>(client, '/api/v1/incidents', 'incidents');
  const isActive = ({ archived_at, revoked_at, incident_id: of }: Resource) =>
    (archived_at ?? revoked_at ?? null) === null && (of === undefined || incidents.some(({ id }) => id === of));
  const patch = async (operation: string, resources: readonly Resource[]) => {
    const { properties } = operationOf(operation);
    const names = Object.keys(properties).filter((name) => WRITE_ONLY[operation]?.includes(name) !== true);
    const none = (name: string) => (properties[name]?.type === 'array' ? [] : null);
    const active = resources.filter(isActive);
    const largest = active.toSorted((a, b) => JSON.stringify(b).length - JSON.stringify(a).length).slice(0, ALONE);
    expect([operation, largest.length]).toEqual([operation, ALONE]);
    const valueOf = (resource: Resource, name: string) =>
      name === 'attachments' ? picturesIn(resource) : (resource[name] ?? none(name));
    const stored = (resource: Resource, of = names) =>
      Object.fromEntries(of.map((name) => [name, valueOf(resource, name)]));
    for (const resource of largest) {
      const label = ['name', 'title'].filter((name) => names.includes(name));
      const padded = label.map((name) => [name, `\u3000${String(resource[name])} \n`]);
      await unchanged(operation, [resource.id], [Object.fromEntries(padded), resource]);
      await unchanged(operation, [resource.id], [{}, resource]);
      for (const name of names) await unchanged(operation, [resource.id], [stored(resource, [name]), resource]);
    }
    for (const resource of active) {
      // Of two names of the same property, a request may use only one.
      const { at: _, ...all } = stored(resource);
      await unchanged(operation, [resource.id], [all, resource]);
    }
  };

  const replacing = Object.keys(OPERATIONS).filter((id) => ['PATCH', 'PUT'].includes(OPERATIONS[id]?.method ?? ''));
  const covered = [...PATCHES.map(([id]) => id), ...OTHERS, ...Object.keys(UNSHOWN)];
  expect(replacing.toSorted()).toEqual(covered.toSorted());

  for (const [operation, { reply }] of PATCHES) {
    const list = listOf(reply?.schema);
    if (list !== undefined) await patch(operation, await readAll<Resource>(client, list));
    else if (!(operation in WRITE_ONLY) && operation !== POSTMORTEM)
      throw new Error(`no list has what ${operation} changes`);
  }
  // Lists without pages.
  const { destinations } = (await client.get('/api/v1/settings/destinations')).body;
  await patch('updateDestination', destinations);
  const { trackers } = (await client.get('/api/v1/settings/trackers')).body;
  await patch('updateTracker', trackers);
  const fields = await readList<Resource>(client, '/api/v1/custom-fields', 'fields');
  for (const { id } of incidents) {
    const { values } = (await client.get(`/api/v1/incidents/${id}/custom-fields`)).body;
    // Those of archived fields cannot be written.
    const writable = values
      .map(({ field_id, value }: Resource) => ({ field_id, value }))
      .filter(({ field_id }: Resource) => fields.some((field) => field.id === field_id));
    if (writable.length > 0) await unchanged('updateIncidentCustomFields', [id], [{ values: writable }, values]);
  }
  for (const { id } of incidents.filter((incident) => incident['postmortem_state'] !== null)) {
    const { document } = (await client.get(`/api/v1/incidents/${id}/postmortem`)).body;
    const { state, sections } = document;
    for (const body of [{}, { state }, { sections }, { state, sections }])
      await unchanged(POSTMORTEM, [id], [body, document]);
  }
  for (const { id } of await readList<Resource>(client, '/api/v1/teams', 'teams')) {
    for (const member of await readList<Resource>(client, `/api/v1/teams/${id}/members`, 'members')) {
      const ids = [id, String(member['user_id'])];
      await unchanged('updateTeamMember', ids, [{ role: member['role'] }, member]);
    }
  }
  const { configuration } = (await client.get('/api/v1/settings/configuration')).body;
  for (const name of Object.keys(configuration as object)) {
    await unchanged('replaceConfiguration', [], [{ [name]: configuration[name] }, configuration]);
  }
  await unchanged('replaceConfiguration', [], [configuration, configuration]);
  const { retention } = (await client.get('/api/v1/settings/retention')).body;
  await unchanged('replaceRetention', [], [{ days: retention.days }, retention]);
  const { saved_views: saved } = (await client.get('/api/v1/users/me/views')).body;
  await unchanged('replaceSavedViews', [], [{ views: saved.views }, saved]);
  return written;
}

/** Without the duration of what goes on. */
const stable = (resource: unknown) =>
  typeof resource === 'object' && resource !== null && !Array.isArray(resource)
    ? { ...resource, duration_seconds: 0, last_used_at: null, last_seen_at: null }
    : resource;
