import { answer, type Behaviour } from './receiver-behaviours.ts';
import { isSlackMethod, SLACK_METHODS, type SlackMethod } from './slack-methods.ts';
import { json, type SlackCall, startSlackServer } from './slack-server.ts';
import { type SlackChannel, SlackRefusal, type SlackState, type SlackUsergroup } from './slack-state.ts';

/** May change the arguments of the call. */
export type SlackHook = (call: SlackCall) => Promise<void> | void;

/** What becomes of a call instead: one of Slack's errors, a status, or anything else. */
export type SlackFailure = { error: string } | { status: number } | { behave: Behaviour };

/** The next calls of the method, or of any: one, unless said. */
interface NextCalls {
  method?: SlackMethod;
  calls?: number;
}

/** A Slack workspace over HTTP: the methods that we use, with Slack's rules; its state is there to look at. */
export interface FakeSlack extends SlackState {
  /** The base URL of its API. */
  readonly url: string;
  /** A valid one. */
  readonly token: string;
  /** The user whom the tokens belong to, so the creator of what they make. */
  readonly user: string;
  /** In the order in which they came. */
  readonly calls: SlackCall[];
  /** How many connections are open. */
  readonly connections: number;
  /** While true, connections are destroyed instead of an answer, also to what was under way. */
  down: boolean;
  /** While true, calls are taken, and neither take effect nor get an answer. */
  hang: boolean;
  /** Answers another valid token, of the same user unless given. */
  addToken(user?: string): string;
  revoke(token: string): void;
  /** Somebody else's channel unless the creator is given, who is its only member unless others are. */
  addChannel(channel: {
    name: string;
    purpose?: string;
    creator?: string;
    archived?: boolean;
    members?: string[];
  }): SlackChannel;
  removeChannel(id: string): void;
  addUsergroup(group: { handle: string; users: string[] }): SlackUsergroup;
  /** @param options `retryAfter` as the header has it; no header without it */
  limit(options: NextCalls & { retryAfter?: number | string }): void;
  fail(options: NextCalls & SlackFailure): void;
  /** Awaited once, by the next call of the method, before it takes effect. */
  before(method: SlackMethod, hook: SlackHook): void;
  /** Awaited once, by the next call of the method that takes effect, before it is answered. */
  after(method: SlackMethod, hook: SlackHook): void;
  stop(): Promise<void>;
}

const STRANGER = 'U0000001';
const BOT = 'U0000002';
const TOKEN = 'xoxb-0000000-valid';

/** @param options `now`: milliseconds since the epoch, for when channels were made */
export async function startSlack({ now = Date.now }: { now?: () => number } = {}): Promise<FakeSlack> {
  const users = new Map([[TOKEN, BOT]]);
  const revoked = new Set<string>();
  const troubles: { method: SlackMethod | undefined; left: number; behave: Behaviour }[] = [];
  const hooks: { when: 'before' | 'after'; method: string; hook: SlackHook }[] = [];
  let lastId = 0;
  const nextId = (kind: string) => kind + String(++lastId).padStart(7, '0');

  const runHook = async (when: 'before' | 'after', call: SlackCall) => {
    const index = hooks.findIndex((entry) => entry.when === when && entry.method === call.method);
    if (index >= 0) await hooks.splice(index, 1)[0]?.hook(call);
  };

  const carryOut = async ({ method, args, token }: SlackCall): Promise<object> => {
    try {
      if (token === undefined) throw new SlackRefusal('not_authed');
      if (revoked.has(token)) throw new SlackRefusal('token_revoked');
      const user = users.get(token);
      if (user === undefined) throw new SlackRefusal('invalid_auth');
      if (!isSlackMethod(method)) throw new SlackRefusal('unknown_method');
      const call = { method, args: { ...args }, token };
      await runHook('before', call);
      const result = SLACK_METHODS[method](slack, call.args, user);
      await runHook('after', call);
      return { ok: true, ...result };
    } catch (error) {
      if (error instanceof SlackRefusal) return error.answer;
      throw error;
    }
  };

  const { url, connections, stop } = await startSlackServer(async (call, response) => {
    if (slack.down) return void response.destroy();
    slack.calls.push(call);
    if (slack.hang) return;
    const trouble = troubles.find(({ method, left }) => left > 0 && (method ?? call.method) === call.method);
    if (trouble !== undefined) {
      trouble.left -= 1;
      trouble.behave(response);
      return;
    }
    const result = await carryOut(call);
    if (slack.down) response.destroy();
    else json(200, result)(response);
  });

  const slack: FakeSlack = {
    url,
    token: TOKEN,
    user: BOT,
    channels: [],
    usergroups: [],
    uninvitable: new Map(),
    pageSize: 1_000,
    calls: [],
    get connections() {
      return connections.size;
    },
    down: false,
    hang: false,
    addToken: (user = BOT) => {
      const token = nextId('xoxb-');
      users.set(token, user);
      return token;
    },
    revoke: (token) => void revoked.add(token),
    addChannel: ({ name, purpose = '', creator = STRANGER, archived: isArchived = false, members = [creator] }) => {
      const created = Math.floor(now() / 1_000);
      const channel = { id: nextId('C'), name, purpose, creator, created, isArchived, members: [...members] };
      slack.channels.push(channel);
      return channel;
    },
    removeChannel: (id) => {
      const index = slack.channels.findIndex((channel) => channel.id === id);
      if (index >= 0) slack.channels.splice(index, 1);
    },
    addUsergroup: ({ handle, users: members }) => {
      const group = { id: nextId('S'), handle, users: [...members] };
      slack.usergroups.push(group);
      return group;
    },
    limit: ({ method, calls: left = 1, retryAfter }) => {
      const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
      troubles.push({ method, left, behave: json(429, { ok: false, error: 'ratelimited' }, headers) });
    },
    fail: ({ method, calls: left = 1, ...failure }) => {
      troubles.push({ method, left, behave: behaviourOf(failure) });
    },
    before: (method, hook) => void hooks.push({ when: 'before', method, hook }),
    after: (method, hook) => void hooks.push({ when: 'after', method, hook }),
    stop,
  };
  return slack;
}

function behaviourOf(failure: SlackFailure): Behaviour {
  if ('error' in failure) return json(200, { ok: false, error: failure.error });
  return 'status' in failure ? answer(failure.status) : failure.behave;
}
