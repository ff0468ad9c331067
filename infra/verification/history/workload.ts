import { setTimeout as delay } from 'node:timers/promises';
import type { ListRead, Operation } from './history.ts';
import { plainPng } from '../systems/png.ts';
import type { Json, Kind } from './resources.ts';
import { type ClientOptions, type Target, type WorkloadClient, workloadClient } from './workload-client.ts';

const SEVERITIES = ['sev1', 'sev2', 'sev3'];
const STATUSES = ['open', 'active', 'on-hold', 'monitoring'];
/** A status that the configuration has now and then. */
const OPTIONAL_STATUS = { key: 'escalated', label: 'Escalated' };
/** Incidents with one `service`, of which lists are read. */
const BATCH = 40;
/** Pixels of a side of a picture. */
const MOST_PIXELS = 200;
/** Few services, teams and fields are enough. */
const MOST = 8;

export const BULK = '/api/v1/incidents/bulk';

type Turn = (client: WorkloadClient) => Promise<unknown>;

const onIncident =
  (act: (client: WorkloadClient, incident: { path: string; target: Target }) => Promise<unknown>): Turn =>
  async (client) => {
    const target = client.pick('incident');
    if (target !== undefined) await act(client, { path: `/api/v1/incidents/${target.id}`, target });
  };

const declare: Turn = async ({ world, random, token, pick, create }) => {
  if (world.declared >= world.mayDeclare()) return;
  const batch = `batch-${Math.floor(world.declared / BATCH)}`;
  world.declared += 1;
  const team = pick('team');
  const field = pick('field');
  await create('/api/v1/incidents', {
    ...{ title: token(), service: batch, severity: random.pick(SEVERITIES), status: random.pick(STATUSES) },
    ...(team !== undefined && random.chance(0.3) && { team_id: team.id }),
    ...(field !== undefined && random.chance(0.3) && { custom_field_values: [{ field_id: field.id, value: token() }] }),
  });
};

const changeIncident = onIncident(async ({ world, random, token, patch }, { path, target }) =>
  patch(path, target, () => ({
    title: token(),
    ...random.pick<Json>([
      { status: random.pick([...STATUSES, OPTIONAL_STATUS.key]) },
      { severity: random.pick(SEVERITIES), regions: [token(), 'eu-west'] },
      { incident_responders: random.chance(0.5) ? [world.user] : [], incident_manager: world.user },
      { impact_summary: token() },
    ]),
  })),
);

const verb = onIncident(async ({ random, token, send }, { path, target: { revision } }) => {
  const [name, note] = random.pick([
    ['resolve', 'resolution_note'],
    ['close', 'close_note'],
    ['reopen', 'reopen_note'],
  ] as const);
  const expectation = random.chance(0.3) ? { expected_revision: revision } : {};
  const body = random.chance(0.5) ? { [note]: token(), ...expectation } : expectation;
  await send({ method: 'POST', path: `${path}/${name}`, body });
});

const archive = onIncident(async ({ random, send }, { path }) => {
  await send({ method: 'POST', path: `${path}/archive` });
  if (random.chance(0.8)) await send({ method: 'POST', path: `${path}/restore` });
});

const bulk: Turn = async ({ random, token, pick, create }) => {
  const targets = new Set(Array.from({ length: 3 }, () => pick('incident')));
  const items = [...targets].flatMap((target) => {
    if (target === undefined) return [];
    const { id, revision } = target;
    return random.chance(0.5)
      ? { id, revision, changes: { title: token() } }
      : { id, verb: random.pick(['resolve', 'close', 'reopen', 'archive', 'restore', 'restore']) };
  });
  if (items.length > 0) await create(BULK, { items });
};

const setValues = onIncident(async ({ random, token, pick, send }, { path }) => {
  const field = pick('field');
  if (field === undefined) return;
  const change = { method: 'PATCH', body: { values: [{ field_id: field.id, value: token() }] } } as const;
  await send(
    random.chance(0.8)
      ? { ...change, path: `${path}/custom-fields` }
      : { method: 'DELETE', path: `${path}/custom-fields/${field.id}` },
  );
});

const relate = onIncident(async ({ random, pick, send }, { path, target: { id } }) => {
  const other = pick('incident');
  if (other === undefined || other.id === id) return;
  const body = { type: random.pick(['duplicate_of', 'caused_by', 'related']), incident_id: other.id };
  const { json } = await send({ method: 'POST', path: `${path}/relations`, body });
  const relation = json['relation'] as { id: number } | undefined;
  if (relation !== undefined && random.chance(0.4))
    await send({ method: 'DELETE', path: `${path}/relations/${relation.id}` });
});

const note = onIncident(async ({ token, create }, { path }) =>
  create(`${path}/timeline`, { body: token(), title: token(), tags: ['deploy'] }),
);

const picture = onIncident(async ({ random, token, create }, { path }) => {
  const [width, height, filename] = [1 + random.int(MOST_PIXELS), 1 + random.int(MOST_PIXELS), token()];
  const bytes = plainPng(width, height);
  const answer = await create(`${path}/pictures?filename=${filename}`, { width, height, filename }, bytes);
  const { id } = (answer?.['picture'] ?? {}) as { id?: number };
  if (id !== undefined && random.chance(0.6)) await create(`${path}/timeline`, { body: token(), attachments: [id] });
});

const followUp = onIncident(async ({ token, create }, { path }) =>
  create(`${path}/follow-ups`, { title: token(), due_on: '2026-12-04' }),
);

const changeFollowUp: Turn = async ({ random, token, pick, send, patch }) => {
  const target = pick('follow_up');
  if (target === undefined) return;
  const path = `/api/v1/follow-ups/${target.id}`;
  if (random.chance(0.25)) await send({ method: 'DELETE', path });
  else await patch(path, target, () => ({ title: token(), status: random.pick(['open', 'done', 'dropped']) }));
};

const changeNote: Turn = async ({ random, token, pick, send, patch }) => {
  const target = pick('timeline_event');
  if (target === undefined) return;
  const path = `/api/v1/timeline/${target.id}`;
  if (random.chance(0.25)) {
    await send({ method: 'DELETE', path });
    if (random.chance(0.5)) await send({ method: 'POST', path: `${path}/restore` });
  } else await patch(path, target, () => ({ body: token(), is_key: random.chance(0.5) }));
};

const catalog: Turn = async ({ world: { targetsByKind }, random, token, pick, send, create, patch }) => {
  const [kind, path, body] = random.pick<[Kind, string, Json]>([
    ['team', '/api/v1/teams', {}],
    ['service', '/api/v1/services', { tier: random.pick(['t0', 't1']) }],
    ['field', '/api/v1/custom-fields', { field_type: 'string' }],
  ]);
  if (targetsByKind[kind].length < MOST && random.chance(0.4)) {
    if (kind === 'field') await send({ method: 'POST', path, body: { ...body, name: token() } });
    else await create(path, { ...body, name: token() });
    return;
  }
  const target = pick(kind);
  if (target === undefined) return;
  const targetPath = `${path}/${target.id}`;
  if (kind !== 'service' || random.chance(0.7)) await patch(targetPath, target, () => ({ name: token() }));
  else
    await send(
      random.chance(0.5) ? { method: 'DELETE', path: targetPath } : { method: 'POST', path: `${targetPath}/restore` },
    );
};

/** Orders are given anew. */
const inOrder = (entries: readonly object[]) => entries.map((entry, index) => ({ ...entry, order: index + 1 }));

/** Adds a status, or removes it from the incidents that have it. */
const configure: Turn = async ({ send }) => {
  const path = '/api/v1/settings/configuration';
  const { outcome, json } = await send({ path });
  if (outcome !== 'done') return;
  const configuration = json['configuration'] as { revision: number; workflow_statuses: { key: string }[] };
  const { revision: expected, workflow_statuses: statuses } = configuration;
  const others = statuses.filter(({ key }) => key !== OPTIONAL_STATUS.key);
  const removed = { [OPTIONAL_STATUS.key]: 'monitoring' };
  await send({
    ...{ method: 'PUT', path, expected },
    body:
      others.length < statuses.length
        ? { workflow_statuses: inOrder(others), replace: { statuses: removed, severities: {} } }
        : { workflow_statuses: inOrder([...statuses, OPTIONAL_STATUS]) },
  });
};

const list: Turn = async ({ history, world, random, send }) => {
  const batch = `batch-${random.int(world.declared / BATCH)}`;
  const isArchived = random.chance(0.2);
  const filter: ListRead['filter'] = {
    ...{ batch, isArchived },
    ...(!isArchived && random.chance(0.4) && { status: random.pick(STATUSES) }),
  };
  const query = new URLSearchParams({ service: batch, limit: String(3 + random.int(10)) });
  if (filter.status !== undefined) query.set('status', filter.status);
  const operations: Operation[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const position: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const result = await send({
      path: `/api/v1/incidents${isArchived ? '/archived' : ''}?${query.toString()}${position}`,
    });
    if (result.outcome !== 'done') return;
    operations.push(result);
    cursor = (result.json['pagination'] as { next_cursor?: string }).next_cursor;
  }
  const ids = operations.flatMap(({ versions }) => versions.map(({ name }) => Number(name.split(' ').at(-1))));
  history.lists.push({ operations, filter, ids });
};

const read = onIncident(async ({ random, send }, { path }) =>
  send({
    path: path + random.pick(['', '', '', '/timeline', '/changelog', '/custom-fields', '/relations', '/follow-ups']),
  }),
);

const readCatalog: Turn = async ({ random, send }) =>
  send({ path: random.pick(['/api/v1/teams', '/api/v1/services?include_archived=true', '/api/v1/custom-fields']) });

const probe: Turn = async ({ other, send }) => {
  const [foreign] = other.targetsByKind.incident.slice(-1);
  if (foreign !== undefined) await send({ path: `/api/v1/incidents/${foreign.id}` });
};

const repeat = <Item>(times: number, item: Item): Item[] => Array.from({ length: times }, () => item);

const TURNS = [
  ...repeat(6, declare),
  ...repeat(7, changeIncident),
  ...repeat(3, verb),
  ...repeat(2, archive),
  ...repeat(2, bulk),
  ...repeat(2, relate),
  ...repeat(2, setValues),
  ...repeat(4, note),
  ...repeat(3, changeNote),
  ...repeat(2, picture),
  ...repeat(2, followUp),
  ...repeat(2, changeFollowUp),
  ...repeat(3, catalog),
  ...repeat(3, list),
  ...repeat(4, read),
  ...[configure, readCatalog, probe],
];

/**
 * A client that does one random operation after the other. Returns the function that does the next one.
 * @param pause milliseconds between two operations
 */
export function randomClient({ pause, ...options }: ClientOptions & { pause: number }): () => Promise<void> {
  const client = workloadClient(options);
  return async () => {
    await client.random.pick(TURNS)(client);
    await delay(pause);
  };
}
