import { setTimeout as delay } from 'node:timers/promises';
import type { History, Operation, Sender, SentOperation } from './history.ts';
import type { Random } from './random.ts';
import { type Json, type Kind, resourcesIn } from './resources.ts';

/** What the clients of a workspace know of it. */
export interface World {
  slug: string;
  /** The user of the API keys, as text. */
  user: string;
  targetsByKind: Readonly<Record<Kind, Target[]>>;
  /** Incidents that were asked for. */
  declared: number;
  /** How many incidents there may be by now. */
  mayDeclare(): number;
}

export interface Target {
  id: number;
  revision: number;
}

export interface ClientOptions {
  history: History;
  sender: Sender;
  world: World;
  /** Another one, of which this client must see nothing. */
  other: World;
  random: Random;
  /** Whether it breaks its own connections. */
  cuts: boolean;
}

type Result = Operation & { json: Json };

/** What the operations of the workload send their requests with. */
export interface WorkloadClient extends Pick<ClientOptions, 'history' | 'world' | 'other' | 'random'> {
  /** A text that nothing else contains: what has it was written by this operation. */
  token(): string;
  /** Returns a resource that the clients of the workspace know of. */
  pick(kind: Kind): Target | undefined;
  send(operation: SentOperation): Promise<Result>;
  /**
   * Repeats a create with its key until something answers; sometimes two at once, once more, or with another content.
   * @param bytes as those of an operation
   * @returns the response of a success
   */
  create(path: string, body: Json, bytes?: Uint8Array): Promise<Json | undefined>;
  /** Sometimes at a stale revision, and sometimes two at once. */
  patch(path: string, target: Target, content: () => Json): Promise<void>;
}

/** Clients change the newest resources, so that they meet. */
const HOT = 25;
const TRIES = 600;

/** Whether items of a bulk are left for another attempt. */
export const isUnfinished = ({ results = [] }: { results?: unknown }): boolean =>
  (results as { status: number }[]).some(({ status }) => status >= 429);

const mustRepeat = ({ outcome, status, code, json }: Result) =>
  outcome === 'unknown' || status === 503 || code === 'idempotency_in_progress' || isUnfinished(json);

export function workloadClient({ history, sender, world, other, random, cuts }: ClientOptions): WorkloadClient {
  const { targetsByKind } = world;
  let count = 0;
  const token = () => `${sender.slug}-${sender.client}.${(count += 1)}`;

  const learn = ({ outcome, json }: Result) => {
    if (outcome !== 'done') return;
    for (const [kind, resource] of resourcesIn(json)) {
      const { id, revision } = resource as unknown as Target;
      const target = targetsByKind[kind].findLast((each) => each.id === id);
      if (target === undefined) targetsByKind[kind].push({ id, revision });
      else target.revision = Math.max(target.revision, revision);
    }
  };
  const send = async (operation: SentOperation): Promise<Result> => {
    const cutAfter = cuts && random.chance(0.03) ? random.int(2) * random.int(30) : undefined;
    const result = await history.send(sender, { ...operation, cutAfter });
    learn(result);
    return result;
  };

  return {
    ...{ history, world, other, random, token, send },
    pick: (kind) => {
      const targets = targetsByKind[kind].slice(-HOT);
      return targets.length === 0 ? undefined : random.pick(targets);
    },
    create: async (path, body, bytes) => {
      const key = token();
      const attempt = async (content = body) => send({ method: 'POST', path, body: content, bytes, key });
      const attempts = random.chance(0.2) ? [attempt(), attempt()] : [attempt()];
      let [last] = (await Promise.all(attempts)).toSorted((a, b) => Number(mustRepeat(b)) - Number(mustRepeat(a)));
      for (let tries = 0; last !== undefined && mustRepeat(last); tries += 1) {
        if (tries === TRIES) throw new Error(`${path} does not come back: ${last.status} ${last.text}`);
        await delay(100);
        last = await attempt();
      }
      if (last?.outcome !== 'done') return undefined;
      if (random.chance(0.2)) await attempt();
      if (random.chance(0.1) && !('items' in body) && bytes === undefined)
        await attempt({ ...body, ['name' in body ? 'name' : 'title']: token() });
      return last.json;
    },
    patch: async (path, target, content) => {
      const expected = random.chance(0.1) ? Math.max(1, target.revision - 1) : target.revision;
      const attempt = async () => send({ method: 'PATCH', path, body: content(), expected });
      const answers = await Promise.all(random.chance(0.15) ? [attempt(), attempt()] : [attempt()]);
      for (const { json } of answers) {
        const current = (json['details'] as Json | undefined)?.['current_revision'];
        if (typeof current === 'number') target.revision = Math.max(target.revision, current);
      }
    },
  };
}
