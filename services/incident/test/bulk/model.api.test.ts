import { expect, test } from '@jest/globals';
import type { Answer, Client } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { freshWorkspace } from '../fields.ts';
import { serviceForFile } from '../service.ts';

/**
 * Compares relations, follow-ups and bulks of two clients at once with a model. What a round of two requests answers must be
 * what the model answers in some order of their steps; an item of a bulk is a step. The model keeps each state that may be.
 */
interface State {
  incidents: { revision: number; severity: string; status: string; archived: boolean }[];
  /** `duplicate_of 0 1`: the request that made it. */
  relations: Record<string, number>;
  /** By the request that made them. */
  followUps: Record<string, { incident: number; revision: number; title: string; status: string }>;
}

/** Changes the state, and returns the answer in short: `200 r4`, `412`. */
type Step = (state: State) => string;
/** A request and its steps, whose answers `read` returns in short. */
interface Request {
  send(client: Client): Promise<Answer>;
  steps: readonly Step[];
  read(answer: Answer): string[];
}

const INCIDENTS = '/api/v1/incidents';
const COUNT = 3;
const TYPES = ['duplicate_of', 'caused_by', 'related'] as const;
const INVERSE: Record<string, string> = { duplicate_of: 'duplicated_by', caused_by: 'causes', related: 'related' };
const VERBS = ['resolve', 'close', 'reopen', 'archive', 'archive', 'restore'] as const;
const NOWHERE = 999_999_999;

const place = fc.nat({ max: COUNT - 1 });
/** The revision that a client has read: of now, of later or before, or none. */
const base = fc.constantFrom<number | undefined>(0, 0, 0, 1, -1, undefined);
const item = fc.oneof(
  fc.record({ incident: place, base, severity: fc.constantFrom('sev1', 'sev2') }),
  fc.record({ incident: place, base, verb: fc.constantFrom(...VERBS) }),
);
const act = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('relate'), type: fc.constantFrom(...TYPES), one: place, other: place }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('unrelate'), pick: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('add'), incident: place }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ kind: fc.constant('change'), pick: fc.nat(), base: base.map((given) => given ?? 0) },
      changes: fc.record({ title: fc.constantFrom('A', 'B'), status: fc.constantFrom('open', 'done') }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove'), pick: fc.nat() }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('bulk'), items: fc.array(item, { minLength: 1, maxLength: 3 }) }),
  },
);
/** Both do the same in every third round, so that they meet. */
const round = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(act, act) },
  act.map((each): [Act, Act] => [each, each]),
);
type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;
type Item = typeof item extends fc.Arbitrary<infer Value> ? Value : never;

const service = await serviceForFile();

const nameOf = (type: string, one: number, other: number) =>
  type === 'related' && one > other ? `${type} ${other} ${one}` : `${type} ${one} ${other}`;
const placesOf = (name: string): [string, number, number] => {
  const [type = '', one, other] = name.split(' ');
  return [type, Number(one), Number(other)];
};
const isDuplicate = ({ relations }: State, from: number, of: number): boolean =>
  from === of ||
  Object.keys(relations).some((name) => {
    const [type, one, other] = placesOf(name);
    return type === 'duplicate_of' && one === from && isDuplicate({ relations } as State, other, of);
  });
const incidentAt = ({ incidents }: State, index: number) => incidents[index] as State['incidents'][number];

/** What an item does, as the single request would. */
const stepOf =
  (item: Item, given: number | undefined): Step =>
  (state) => {
    const incident = incidentAt(state, item.incident);
    const isStale = given !== undefined && given !== incident.revision;
    const done = (change: Partial<typeof incident>) => {
      const isSame = Object.entries(change).every(([name, value]) => incident[name as keyof typeof incident] === value);
      if (!isSame) Object.assign(incident, change, { revision: incident.revision + 1 });
      return `200 r${incident.revision}`;
    };
    if (!('verb' in item)) {
      if (given === undefined) return '428';
      return incident.archived ? '409' : isStale ? '412' : done({ severity: item.severity });
    }
    if (incident.archived !== (item.verb === 'restore')) return '409';
    if (isStale) return '412';
    if (item.verb === 'archive' || item.verb === 'restore') return done({ archived: item.verb === 'archive' });
    if (item.verb === 'reopen' && !['resolved', 'closed'].includes(incident.status)) return '409';
    return done({ status: { resolve: 'resolved', close: 'closed', reopen: 'active' }[item.verb] });
  };

const SHORT = ({ status }: Answer) => [String(status)];

/** The IDs of what requests have made, by the numbers of these. */
type Made = Record<'relations' | 'followUps', Map<number, number>>;
const labelIn = (ids: ReadonlyMap<number, number>, id: number) => [...ids].find((entry) => entry[1] === id)?.[0] ?? -1;

/** @param world what the client knows when it sends: the IDs, and a state that may be */
function requestOf(act: Act, number: number, world: { ids: readonly number[]; made: Made; known: State }): Request {
  const { ids, made, known } = world;
  const pathAt = (index: number) => `${INCIDENTS}/${ids[index]}`;
  const pick = (labels: readonly (string | number)[], at: number) =>
    Number(labels[at % Math.max(1, labels.length)] ?? -1);
  if (act.kind === 'relate') {
    const { type, one, other } = act;
    const name = nameOf(type, one, other);
    return {
      send: async (client) => client.post(`${pathAt(one)}/relations`, { type, incident_id: ids[other] }),
      steps: [
        (state) => {
          if (incidentAt(state, one).archived) return '409';
          if (one === other) return '400';
          if (incidentAt(state, other).archived) return '409';
          const existing = state.relations[name];
          if (existing !== undefined) return `200 ${existing}`;
          if (type === 'duplicate_of' && isDuplicate(state, other, one)) return '400';
          state.relations[name] = number;
          for (const each of [one, other]) incidentAt(state, each).revision += 1;
          return `201 ${number}`;
        },
      ],
      read: ({ status, body }) => {
        if (status >= 300) return [String(status)];
        return [`${status} ${labelIn(made.relations, body.relation.id)}`];
      },
    };
  }
  if (act.kind === 'unrelate') {
    const names = Object.entries(known.relations);
    const [name = nameOf('related', 0, 1), label = -1] = names[act.pick % Math.max(1, names.length)] ?? [];
    const [, one, other] = placesOf(name);
    const from = pathAt(act.pick % 2 === 0 ? one : other);
    return {
      send: async (client) => client.delete(`${from}/relations/${made.relations.get(label) ?? NOWHERE}`),
      steps: [
        (state) => {
          if (state.relations[name] !== label) return '404';
          const both = [incidentAt(state, one), incidentAt(state, other)];
          if (both.some(({ archived }) => archived)) return '409';
          Reflect.deleteProperty(state.relations, name);
          for (const incident of both) incident.revision += 1;
          return '204';
        },
      ],
      read: SHORT,
    };
  }
  if (act.kind === 'add')
    return {
      send: async (client) => client.post(`${pathAt(act.incident)}/follow-ups`, { title: 'A' }),
      steps: [
        (state) => {
          if (incidentAt(state, act.incident).archived) return '409';
          state.followUps[number] = { incident: act.incident, revision: 1, title: 'A', status: 'open' };
          return '201';
        },
      ],
      read: SHORT,
    };
  if (act.kind === 'bulk') {
    const items = act.items.filter(
      ({ incident }, index, all) => all.slice(0, index).filter((each) => each.incident === incident).length < 2,
    );
    const given = items.map(({ incident, base: by }) =>
      by === undefined ? undefined : Math.max(1, incidentAt(known, incident).revision + by),
    );
    const sent = items.map((each, index) => ({
      ...{ id: ids[each.incident], revision: given[index] },
      ...('verb' in each ? { verb: each.verb } : { changes: { severity: each.severity } }),
    }));
    return {
      send: async (client) => client.post(`${INCIDENTS}/bulk`, { items: sent }),
      steps: items.map((each, index) => stepOf(each, given[index])),
      read: ({ body }) =>
        body.results.map(({ status, incident }: { status: number; incident?: { revision: number } }) =>
          incident === undefined ? String(status) : `${status} r${incident.revision}`,
        ),
    };
  }
  const label = pick(Object.keys(known.followUps), act.pick);
  const path = `/api/v1/follow-ups/${made.followUps.get(label) ?? NOWHERE}`;
  const ofFollowUp =
    (change: (state: State, followUp: State['followUps'][string]) => string): Step =>
    (state) => {
      const followUp = state.followUps[label];
      if (followUp === undefined) return '404';
      return incidentAt(state, followUp.incident).archived ? '409' : change(state, followUp);
    };
  if (act.kind === 'remove')
    return {
      send: async (client) => client.delete(path),
      steps: [
        ofFollowUp((state) => {
          Reflect.deleteProperty(state.followUps, label);
          return '204';
        }),
      ],
      read: SHORT,
    };
  const revision = Math.max(1, (known.followUps[label]?.revision ?? 1) + act.base);
  return {
    send: async (client) => client.patch(path, act.changes, { 'If-Service-Resource-Version': String(revision) }),
    steps: [
      ofFollowUp((_, followUp) => {
        if (followUp.revision !== revision) return '412';
        const isSame = followUp.title === act.changes.title && followUp.status === act.changes.status;
        if (!isSame) Object.assign(followUp, act.changes, { revision: revision + 1 });
        return `200 r${followUp.revision}`;
      }),
    ],
    read: ({ status, body }) => [status === 200 ? `200 r${body.follow_up.revision}` : String(status)],
  };
}

/** The states in which steps of two requests, in any order between them, answer as they did. */
function statesAfter(state: State, all: readonly { steps: readonly Step[]; answers: readonly string[] }[]): State[] {
  if (all.every(({ steps }) => steps.length === 0)) return [state];
  return all.flatMap(({ steps: [step, ...steps], answers: [answer, ...answers] }, index) => {
    if (step === undefined) return [];
    const next = structuredClone(state);
    return step(next) === answer ? statesAfter(next, all.with(index, { steps, answers })) : [];
  });
}

const distinct = (states: readonly State[]) => [
  ...new Map(states.map((state) => [JSON.stringify(state), state])).values(),
];

/** What the API shows, in the form of the model. */
async function readState(client: Client, ids: readonly number[], made: Made): Promise<State> {
  const state: State = { incidents: [], relations: {}, followUps: {} };
  const duplicates = new Set<number>();
  for (const archived of ['', '/archived']) {
    const { incidents } = (await client.get(`${INCIDENTS}${archived}?limit=100&duplicate=true`)).body;
    for (const { id } of incidents) duplicates.add(id);
  }
  for (const [index, id] of ids.entries()) {
    const { incident } = (await client.get(`${INCIDENTS}/${id}`)).body;
    const { revision, severity, status, archived_at } = incident;
    state.incidents.push({ revision, severity, status, archived: archived_at !== null });
    const { relations } = (await client.get(`${INCIDENTS}/${id}/relations?limit=100`)).body;
    const types: string[] = relations.map(({ type }: { type: string }) => type);
    expect(duplicates.has(id)).toBe(types.includes('duplicate_of'));
    for (const { id: relationId, type, incident: related } of relations) {
      const other = ids.indexOf(related.id);
      const given = Object.keys(INVERSE).find((each) => each === type);
      const name =
        given === undefined
          ? nameOf(Object.keys(INVERSE).find((each) => INVERSE[each] === type) ?? '', other, index)
          : nameOf(given, index, other);
      const label = labelIn(made.relations, relationId);
      // Both sides show the same relation.
      expect(state.relations[name] ?? label).toBe(label);
      state.relations[name] = label;
    }
    const { follow_ups: followUps } = (await client.get(`${INCIDENTS}/${id}/follow-ups?limit=100`)).body;
    for (const { id: followUpId, revision: ofIt, title, status: its } of followUps)
      state.followUps[labelIn(made.followUps, followUpId)] = { incident: index, revision: ofIt, title, status: its };
  }
  return state;
}

test('relations, follow-ups and bulks of two clients at once are those of a model', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 10, maxLength: 20 }), async (rounds) => {
      const { client, as } = freshWorkspace(service);
      const clients = [client, as(43)];
      const ids: number[] = [];
      while (ids.length < COUNT) ids.push((await client.post(INCIDENTS, { title: 'x' })).body.incident.id);
      const made: Made = { relations: new Map(), followUps: new Map() };
      const fresh = { revision: 1, severity: 'sev3', status: 'open', archived: false };
      let states: State[] = [{ incidents: ids.map(() => ({ ...fresh })), relations: {}, followUps: {} }];
      for (const [nth, acts] of rounds.entries()) {
        const requests = acts.map((each, index) =>
          requestOf(each, 2 * nth + index, { ids, made, known: states[0] as State }),
        );
        const answers = await Promise.all(requests.map(async ({ send }, index) => send(clients[index] as Client)));
        for (const [index, { status, body }] of answers.entries()) {
          if (status !== 201) continue;
          const [kind, { id }] =
            body.relation === undefined ? ['followUps', body.follow_up] : ['relations', body.relation];
          made[kind as keyof Made].set(2 * nth + index, id);
        }
        const sides = requests.map(({ steps, read }, index) => ({ steps, answers: read(answers[index] as Answer) }));
        const after = distinct(states.flatMap((state) => statesAfter(state, sides)));
        const told = { acts, known: states[0], answers: sides.map((side) => side.answers) };
        if (after.length === 0) throw new Error(`no order of the steps explains ${JSON.stringify(told)}`);
        states = after;
        for (const [index, side] of sides.entries())
          for (const answer of side.answers) seen.add(`${acts[index]?.kind} ${answer.slice(0, 3)}`);
      }
      const shown = await readState(client, ids, made);
      expect(states.map(sorted)).toContainEqual(sorted(shown));
    }),
    { numRuns: 30 },
  );
  expect([...seen].sort()).toEqual([
    ...['add 201', 'add 409', 'bulk 200', 'bulk 409', 'bulk 412', 'bulk 428', 'change 200', 'change 404'],
    ...['change 409', 'change 412', 'relate 200', 'relate 201', 'relate 400', 'relate 409', 'remove 204'],
    ...['remove 404', 'remove 409', 'unrelate 204', 'unrelate 404', 'unrelate 409'],
  ]);
});

const sorted = (state: State): State => ({
  ...state,
  relations: Object.fromEntries(Object.entries(state.relations).toSorted()),
});
