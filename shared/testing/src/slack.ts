import { answer, type Behaviour } from './receiver-behaviours.ts';
import { isSlackMethod, SLACK_METHODS, type SlackMethod } from './slack-methods.ts';
import { json, type SlackCall, startSlackServer } from './slack-server.ts';
import type { SlackSockets } from './slack-sockets.ts';
import { type SlackChannel, SlackError, type SlackState, type SlackUsergroup } from './slack-state.ts';

/** A hook of a call; it may change the call's arguments. */
type SlackHook = (call: SlackCall) => Promise<void> | void;

/** How a call fails: with one of Slack's errors, a status, or any other behaviour. */
type SlackFailure = { error: string } | { status: number } | { behave: Behaviour };

/** The next `calls` calls (default 1) of the method, or of any method. */
interface NextCalls {
  method?: SlackMethod;
  calls?: number;
}

/** A fake Slack API over HTTP: the methods that the product calls, with Slack's rules. Tests can read its state. */
export interface FakeSlack extends SlackState {
  /** The base URL of its API. */
  readonly url: string;
  /** A valid token. */
  readonly token: string;
  /** A valid token of the app, for sockets. */
  readonly appToken: string;
  readonly sockets: SlackSockets;
  /** The user of the tokens, who becomes the creator of channels. */
  readonly user: string;
  /** All calls, in the order of their arrival. */
  readonly calls: SlackCall[];
  /** The number of open connections. */
  readonly connections: number;
  /** While true, connections are destroyed without a response, including those of calls in progress. */
  down: boolean;
  /** While true, calls are accepted but have no effect and get no response. */
  hang: boolean;
  /** Returns another valid token, by default of the same user. */
  addToken(user?: string): string;
  revoke(token: string): void;
  /** By default another user is the creator, and the creator is the only member. */
  addChannel(channel: {
    name: string;
    purpose?: string;
    creator?: string;
    archived?: boolean;
    isPrivate?: boolean;
    members?: string[];
  }): SlackChannel;
  removeChannel(id: string): void;
  addUsergroup(group: { handle: string; users: string[] }): SlackUsergroup;
  /** Rate-limits calls. @param options `retryAfter` is the value of the header; default: no header */
  limit(options: NextCalls & { retryAfter?: number | string }): void;
  fail(options: NextCalls & SlackFailure): void;
  /** Runs the hook once, in the next call of the method, before it takes effect. */
  before(method: SlackMethod, hook: SlackHook): void;
  /** Runs the hook once, in the next successful call of the method, before the response. */
  after(method: SlackMethod, hook: SlackHook): void;
  stop(): Promise<void>;
}

const OTHER_USER = 'U0000001';
const BOT = 'U0000002';
const TOKEN = 'xoxb-0000000-valid';
const APP_TOKEN = 'xapp-1-A0000001-valid';

/** @param options `now`: milliseconds since the epoch, for the creation time of channels */
export async function startSlack({ now = Date.now }: { now?: () => number } = {}): Promise<FakeSlack> {
  const users = new Map([[TOKEN, BOT]]);
  const revoked = new Set<string>();
  const hooks: { when: 'before' | 'after'; method: string; hook: SlackHook }[] = [];
  let lastId = 0;
  const nextId = (kind: string) => kind + String(++lastId).padStart(7, '0');
  const { nextFailure, ...failures } = planFailures();

  const runHook = async (when: 'before' | 'after', call: SlackCall) => {
    const index = hooks.findIndex((entry) => entry.when === when && entry.method === call.method);
    if (index >= 0) await hooks.splice(index, 1)[0]?.hook(call);
  };

  const execute = async ({ method, args, token }: SlackCall): Promise<object> => {
    try {
      if (token === undefined) throw new SlackError('not_authed');
      if (revoked.has(token)) throw new SlackError('token_revoked');
      const isOfApp = token === APP_TOKEN;
      const user = isOfApp ? '' : users.get(token);
      if (user === undefined) throw new SlackError('invalid_auth');
      if (!isSlackMethod(method)) throw new SlackError('unknown_method');
      if (isOfApp !== (method === 'apps.connections.open')) throw new SlackError('not_allowed_token_type');
      const call = { method, args: { ...args }, token };
      await runHook('before', call);
      const result = SLACK_METHODS[method](slack, call.args, user);
      await runHook('after', call);
      return { ok: true, ...result };
    } catch (error) {
      if (error instanceof SlackError) return error.body;
      throw error;
    }
  };

  const { url, connections, sockets, newSocket, stop } = await startSlackServer(async (call, response) => {
    if (slack.down) return void response.destroy();
    slack.calls.push(call);
    if (slack.hang) return;
    const failure = nextFailure(call.method);
    if (failure !== undefined) {
      failure(response);
      return;
    }
    const result = await execute(call);
    if (slack.down) response.destroy();
    else json(200, result)(response);
  });

  const slack: FakeSlack = {
    url,
    token: TOKEN,
    appToken: APP_TOKEN,
    sockets,
    newSocket,
    people: [],
    user: BOT,
    ...slackWorkspace({ now, nextId }),
    ...failures,
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
    before: (method, hook) => void hooks.push({ when: 'before', method, hook }),
    after: (method, hook) => void hooks.push({ when: 'after', method, hook }),
    stop,
  };
  return slack;
}

type SlackWorkspace = Pick<
  FakeSlack,
  Exclude<keyof SlackState, 'people' | 'newSocket'> | 'removeChannel' | 'addUsergroup'
>;

function slackWorkspace({ now, nextId }: { now: () => number; nextId: (kind: string) => string }): SlackWorkspace {
  const channels: SlackChannel[] = [];
  const usergroups: SlackUsergroup[] = [];
  return {
    channels,
    usergroups,
    uninvitable: new Map(),
    pageSize: 1_000,
    addChannel: ({
      name,
      purpose = '',
      creator = OTHER_USER,
      archived: isArchived = false,
      isPrivate = false,
      members = [creator],
    }) => {
      const created = Math.floor(now() / 1_000);
      const channel = {
        id: nextId('C'),
        name,
        purpose,
        topic: '',
        creator,
        created,
        isArchived,
        isPrivate,
        members: [...members],
        messages: [],
      };
      channels.push(channel);
      return channel;
    },
    removeChannel: (id) => {
      const index = channels.findIndex((channel) => channel.id === id);
      if (index >= 0) channels.splice(index, 1);
    },
    addUsergroup: ({ handle, users: members }) => {
      const group = { id: nextId('S'), handle, users: [...members] };
      usergroups.push(group);
      return group;
    },
  };
}

type PlannedFailures = Pick<FakeSlack, 'limit' | 'fail'> & {
  /** How the next call of a method fails. */
  nextFailure(method: string): Behaviour | undefined;
};

function planFailures(): PlannedFailures {
  const planned: { method: SlackMethod | undefined; left: number; behave: Behaviour }[] = [];
  return {
    limit: ({ method, calls: left = 1, retryAfter }) => {
      const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
      planned.push({ method, left, behave: json(429, { ok: false, error: 'ratelimited' }, headers) });
    },
    fail: ({ method, calls: left = 1, ...failure }) => {
      planned.push({ method, left, behave: behaviourOf(failure) });
    },
    nextFailure: (name) => {
      const failure = planned.find(({ method, left }) => left > 0 && (method ?? name) === name);
      if (failure !== undefined) failure.left -= 1;
      return failure?.behave;
    },
  };
}

function behaviourOf(failure: SlackFailure): Behaviour {
  if ('error' in failure) return json(200, { ok: false, error: failure.error });
  return 'status' in failure ? answer(failure.status) : failure.behave;
}
