import { expect } from '@jest/globals';
import { type Answer, type Client, eventually } from '@tocsin/testing';
import { examplesOf } from '../../systems/examples.ts';
import { DESCRIPTION, type Operation, OPERATIONS, readList, REVISION } from './operations.ts';
import { UNKNOWN_ID } from './refusals.ts';
import { readEvents } from './shown.ts';

/** A workspace with restricted incidents, or the same one without them. */
export interface World {
  workspace: string;
  owner: Client;
  /** Of the owner. */
  userId: number;
  /** The ID of something by the path in front of it: of a restricted incident, or one that was never given. */
  hidden: ReadonlyMap<string, string | number>;
  /** That of something that all may see. */
  shared: ReadonlyMap<string, string | number>;
}

const INCIDENTS = '/api/v1/incidents';
const SECRET = {
  title: 'The secret',
  service: 'vault',
  regions: ['hidden'],
  severity: 'sev1',
  external_id: 'hidden-1',
};

/** @param owner creates everything; @param hasHidden whether there are restricted incidents */
export async function createWorld(workspace: string, owner: Client, hasHidden: boolean): Promise<World> {
  const create = async (path: string, body: object = {}) => {
    const { status, text, body: created } = await owner.post(path, body);
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return (
      Object.values((created ?? {}) as Record<string, { id: number; human_id: string }>)[0] ?? { id: 0, human_id: '' }
    );
  };
  const team = await create('/api/v1/teams', { name: 'Payments' });
  const service = await create('/api/v1/services', { name: 'Checkout', slug: 'checkout', owner_team_id: team.id });
  // Events of different services come in any order.
  const recorded = async (expected: string) =>
    eventually(async () => (await readEvents(owner)).some(({ type }) => type === expected), { what: expected });
  await recorded('service.changed');
  const field = await create('/api/v1/custom-fields', { name: 'Cause', slug: 'cause', field_type: 'string' });
  await recorded('custom-field.changed');
  const values = (value: string) => [{ field_id: field.id, value }];
  const fill = async (body: object, value: string) => {
    const incident = await create(INCIDENTS, { ...body, custom_field_values: values(value) });
    const path = `${INCIDENTS}/${incident.id}`;
    const event = await create(`${path}/timeline`, { body: `A note of ${value}` });
    const deleted = await create(`${path}/timeline`, { body: `Another note of ${value}` });
    await owner.delete(`/api/v1/timeline/${deleted.id}`);
    const followUp = await create(`${path}/follow-ups`, { title: `Later ${value}`, due_on: '2026-11-20' });
    return { ...incident, path, event, followUp };
  };
  const open = await fill({ title: 'Open', service: 'checkout', team_id: team.id, severity: 'sev1' }, 'open');
  const secret = hasHidden ? await fill({ ...SECRET, restricted: true }, 'secret') : undefined;
  const other = await fill({ title: 'Other', service: 'other', regions: ['eu'] }, 'other');
  const relation = secret && (await create(`${open.path}/relations`, { type: 'related', incident_id: secret.id }));
  await create(`${open.path}/relations`, { type: 'caused_by', incident_id: other.id });
  if (secret !== undefined) {
    const archived = await fill({ title: 'Another secret', service: 'vault', restricted: true }, 'secret');
    await create(`${archived.path}/archive`);
    await create(`${secret.path}/resolve`, { resolution_note: 'The secret is out' });
    await create('/api/v1/alerts?restricted=true', { id: 'secret', status: 'firing', title: 'A secret alert' });
  }
  const archived = await fill({ title: 'Archived' }, 'archived');
  await create(`${archived.path}/archive`);
  // The feed has everything.
  await eventually(async () => (await readEvents(owner)).some(({ type }) => type === 'incident.archived'), {
    what: `the events of ${workspace}`,
  });
  const unknown = UNKNOWN_ID;
  return {
    ...{ workspace, owner, userId: (await owner.get('/api/v1/me')).body.user.id as number },
    hidden: new Map<string, string | number>([
      [`${INCIDENTS}/`, secret?.id ?? unknown],
      ['/api/v1/timeline/', secret?.event.id ?? unknown],
      ['/api/v1/follow-ups/', secret?.followUp.id ?? unknown],
      ['/api/v1/incident-references/', secret?.human_id ?? `INC-${unknown}`],
      ['/relations/', relation?.id ?? unknown],
    ]),
    shared: new Map<string, string | number>([
      [`${INCIDENTS}/`, open.id],
      ['/api/v1/timeline/', open.event.id],
      ['/api/v1/follow-ups/', open.followUp.id],
      ['/api/v1/incident-references/', open.human_id],
      ['/api/v1/teams/', team.id],
      ['/api/v1/services/', service.id],
      ['/api/v1/custom-fields/', field.id],
      ['/custom-fields/', field.id],
    ]),
  };
}

interface Probe {
  operation: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: unknown;
}

/** Texts of restricted incidents and of others, for parameters that take any. */
const TEXTS = ['secret', 'vault', 'hidden', 'hidden-1', 'open', 'sev1', 'cause:contains:secret'];
const MOMENTS = ['2000-01-01T00:00:00Z', '2100-01-01T00:00:00Z'];

/** Values of a parameter of a query: all of a choice. */
function* valuesOf({ name, schema }: Operation['query'][number], { hidden, shared }: World): Generator<string> {
  const { type, enum: choices, format } = schema;
  if (choices !== undefined) yield* choices as string[];
  else if (type === 'boolean') yield* ['true', 'false'];
  else if (type === 'integer') {
    const of = (prefix: string) => [hidden, shared].flatMap((ids) => ids.get(prefix) ?? []).map(String);
    yield* name.endsWith('team_id') ? of('/api/v1/teams/') : name === 'incident_id' ? of(`${INCIDENTS}/`) : ['1'];
  } else if (format === 'date-time') yield* MOMENTS;
  else if (format === 'date') yield* MOMENTS.map((moment) => moment.slice(0, 10));
  else yield* [...TEXTS, ...(name === 'q' ? [String(hidden.get('/api/v1/incident-references/'))] : [])];
}

/** What the parameters of a query that wait, or that name a place in a list, are tried with elsewhere. */
const NOT_TRIED = new Set(['wait', 'cursor', 'after', 'limit', 'from']);

/** The requests of an outsider that concern incidents, the same in each world but for the IDs. */
function* probesOf(world: World): Generator<Probe> {
  for (const { id: operation, method, template, body, headers } of examplesOf(DESCRIPTION)) {
    const { query = [], parameters = [] } = OPERATIONS[operation] ?? {};
    const isRead = method === 'get';
    for (const ids of [world.hidden, world.shared]) {
      const path = withIds(template, ids, world);
      // What all may see is only read, and validated: it has to stay the same.
      if (path === undefined || (ids === world.shared && !isRead && !parameters.includes('validate_only'))) continue;
      const search = !isRead && ids === world.shared ? '?validate_only=true' : '';
      const revision = parameters.includes(REVISION) ? { [REVISION]: '1' } : {};
      const more = 'Idempotency-Key' in headers ? {} : headers;
      yield {
        operation,
        method,
        path: path + search,
        headers: { ...more, ...revision },
        body: bodyOf(body, ids, world),
      };
      if (!isRead) continue;
      if (operation === 'listEvents') {
        for (const about of [
          '',
          ...[world.hidden, world.shared].map((of) => `&resource=incident:${of.get(`${INCIDENTS}/`)}`),
        ])
          yield { operation, method, path: `${path}?from=beginning${about}`, headers: {}, body: undefined };
      }
      for (const parameter of query.filter(({ name }) => !NOT_TRIED.has(name))) {
        for (const value of valuesOf(parameter, world))
          yield {
            operation,
            method,
            path: `${path}?${parameter.name}=${encodeURIComponent(value)}`,
            headers: {},
            body: undefined,
          };
      }
    }
  }
}

/** Undefined for what has no such ID, and for a path without IDs besides the shared ones. */
function withIds(template: string, ids: World['hidden'], { hidden, shared }: World): string | undefined {
  if (!template.includes('{')) return ids === shared ? template : undefined;
  let isHidden = false;
  let isComplete = true;
  const path = template.replaceAll(/([^{}]*?)([\w-]+\/)\{\w+\}/g, (_match, before: string, name: string) => {
    const prefix = before.startsWith('/api') ? before + name : `/${name}`;
    const id = ids.get(prefix) ?? shared.get(prefix);
    isHidden ||= hidden.has(prefix);
    isComplete &&= id !== undefined;
    return `${before}${name}${id}`;
  });
  if (!isComplete || (ids === hidden && !isHidden)) return undefined;
  return path;
}

/** An example in which each ID of an incident is that of this world. */
const bodyOf = (example: unknown, ids: World['hidden'], { hidden, shared, userId }: World): unknown =>
  example === undefined
    ? undefined
    : JSON.parse(JSON.stringify(example), (name, value: unknown) => {
        // In a request about what all may see, it is the hidden one.
        if (name === 'incident_id') return hidden.get(`${INCIDENTS}/`);
        if (name === 'field_id') return shared.get('/api/v1/custom-fields/');
        if (name.endsWith('team_id')) return shared.get('/api/v1/teams/');
        if (name === 'owner' || name === 'incident_manager') return String(userId);
        if (name === 'user_id') return userId;
        if (name === 'items' && Array.isArray(value)) {
          return value.map((item: object) => ({ ...item, id: hidden.get(`${INCIDENTS}/`) }));
        }
        return ids === hidden || name !== 'external_id' ? value : undefined;
      });

/** Names of properties whose values are numbers of the installation, or follow from them. */
const NUMBERED =
  /(?:^|_)(?:ids?|by)$|^(?:from|to|human_id|reference|incident_manager|incident_responders|actor|owner|users|teams|used|duration_seconds)$/;

/** An answer without times, request IDs, numbers of resources, and what is made of them. */
function comparable({ status, headers, text }: Answer, { workspace }: World): unknown {
  const revision = headers.get('Service-Resource-Version');
  const type = headers.get('Content-Type');
  const lines = text.split('\n').filter((line) => line !== '');
  const bodies = lines.map((line) => {
    try {
      return JSON.parse(line, (name, value: unknown) => {
        if (name.endsWith('cursor') && typeof value === 'string') return '<cursor>';
        if (name === 'request_id') return '<request>';
        if (NUMBERED.test(name)) return withoutNumbers(value, workspace);
        return typeof value === 'string' ? plain(value, workspace) : value;
      }) as unknown;
    } catch {
      return plain(line, workspace);
    }
  });
  return { status, revision, type, bodies };
}

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

function withoutNumbers(value: unknown, workspace: string): unknown {
  if (typeof value === 'number') return '#';
  if (typeof value === 'string') return plain(value, workspace).replaceAll(/\d+/g, '#');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((member) => withoutNumbers(member, workspace));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutNumbers(member, workspace)]));
}

const plain = (text: string, workspace: string): string =>
  text
    .replaceAll(workspace, '<workspace>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(UUID, '<uuid>')
    .replaceAll(/tcs_[\w-]+/g, '<token>')
    .replaceAll(/(?:INC-|person-|Person |events\.|ups\.|\/)\d+/g, (match) => match.replaceAll(/\d+/g, '#'));

const AUDIT_LOG = '/api/v1/settings/audit-log';

/** Waits until the audit log, which is filled after responses, has the same of both worlds. */
export async function auditedInBoth(worlds: readonly World[], clientOf: (world: World) => Client): Promise<void> {
  const logOf = async (world: World) => JSON.stringify(comparable(await clientOf(world).get(AUDIT_LOG), world));
  await eventually(async () => new Set(await Promise.all(worlds.map(logOf))).size === 1, { what: 'equal audit logs' });
}

/** Sends the same to both worlds, and compares the answers. Returns how many there were, and of how many operations. */
export async function compareWorlds(
  [one, other]: readonly [World, World],
  clientOf: (world: World) => Client,
): Promise<{ requests: number; operations: Set<string> }> {
  const operations = new Set<string>();
  const different: object[] = [];
  let requests = 0;
  const [mine, theirs] = [probesOf(one), probesOf(other)];
  for (const probe of mine) {
    const twin = theirs.next().value as Probe;
    const send = async (world: World, { method, path, body, headers }: Probe) =>
      comparable(await clientOf(world).send(method.toUpperCase(), path, body, headers), world);
    const [answer, answerOfOther] = await Promise.all([send(one, probe), send(other, twin)]);
    if (JSON.stringify(answer) !== JSON.stringify(answerOfOther)) different.push({ probe, answer, answerOfOther });
    operations.add(probe.operation);
    requests += 1;
  }
  expect(different).toEqual([]);
  for (const { method, path, reply, parameters, pathIds } of Object.values(OPERATIONS)) {
    if (method !== 'GET' || reply?.isList !== true || !parameters.includes('cursor') || pathIds.length > 0) continue;
    if ((await clientOf(one).get(path)).status !== 200) continue;
    // Small pages, so that cursors lie beside what is hidden.
    const pages = async (world: World) =>
      (await readList<object>(clientOf(world), path, reply.name, () => 1)).map((item) =>
        comparable(
          { status: 200, headers: new Headers(), bytes: Buffer.alloc(0), text: JSON.stringify(item), body: item },
          world,
        ),
      );
    expect([path, await pages(one)]).toEqual([path, await pages(other)]);
    requests += 1;
  }
  return { requests, operations };
}
