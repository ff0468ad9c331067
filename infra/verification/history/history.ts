import { setTimeout as delay } from 'node:timers/promises';
import { httpClient } from '@tocsin/testing';
import { send, type SentRequest } from '../systems/send.ts';
import { countMet, type Met } from './met.ts';
import { type Json, type Version, versionsIn } from './resources.ts';

/** Who sends: a client of a workspace. */
export interface Sender {
  slug: string;
  token: string;
  client: number;
}

/** A request of a run, and what became of it. */
export interface Operation {
  /** Its `X-Request-ID`, which the events have that it caused. */
  id: string;
  workspace: string;
  client: number;
  method: string;
  path: string;
  body?: Json | undefined;
  key?: string | undefined;
  /** The revision that a PATCH or PUT is based on. */
  expected?: number | undefined;
  /** Places in the order of all beginnings and ends. */
  start: number;
  end: number;
  /** Undefined: the connection ended before a response. */
  status?: number;
  code?: string;
  /** `refused` has changed nothing; of `unknown` nobody has said whether it has. */
  outcome: 'done' | 'refused' | 'unknown';
  /** Its client broke the connection. */
  isCut: boolean;
  isReplay: boolean;
  versions: readonly Omit<Version, 'text'>[];
  /** Of a create with a key, and of whatever is not done. */
  text: string;
}

/** Incidents that a list had, page by page, while others were changing. */
export interface ListRead {
  operations: readonly Operation[];
  filter: { batch: string; status?: string; isArchived: boolean };
  ids: readonly number[];
}

export interface Violation {
  what: string;
  operations: readonly (Operation | undefined)[];
  more?: unknown;
}

export interface SentOperation extends Pick<SentRequest, 'method' | 'path'> {
  body?: Json | undefined;
  /** Are sent instead of the body, which says what they are. */
  bytes?: Uint8Array | undefined;
  key?: string;
  expected?: number;
  /** Milliseconds after which the client breaks the connection; 0: at once. */
  cutAfter?: number | undefined;
}

/** All requests of a run. */
export interface History {
  readonly operations: readonly Operation[];
  readonly lists: ListRead[];
  /** Each version that a response has shown, by the name of the resource: its content, and where it was seen first. */
  readonly seen: ReadonlyMap<string, ReadonlyMap<number, Seen>>;
  readonly met: Met;
  readonly violations: Violation[];
  send(sender: Sender, operation: SentOperation): Promise<Operation & { json: Json }>;
  /** The gateway to which the load balancer sends the next request. @throws Error after the end */
  nextGateway(): string;
  stop(): Promise<void>;
}

export interface Seen {
  text: string;
  by: Operation;
}

/** Milliseconds. */
const READINESS_INTERVAL = 200;

/** @param gateways behind a load balancer */
export function startHistory(gateways: readonly string[]): History {
  const operations: Operation[] = [];
  const seen = new Map<string, Map<number, Seen>>();
  const violations: Violation[] = [];
  const met = countMet();
  const { nextGateway, stop } = loadBalancer(gateways);
  let place = 0;

  /** Equal revisions are equal, wherever they are shown. */
  const see = (operation: Operation, { name, revision, text }: Version) => {
    const versions = seen.get(name) ?? new Map<number, Seen>();
    seen.set(name, versions);
    const version = versions.get(revision);
    if (version === undefined) versions.set(revision, { text, by: operation });
    else if (version.text !== text) {
      const more = { name, revision, texts: [version.text, text] };
      violations.push({ what: 'two contents of one revision', operations: [version.by, operation], more });
    }
  };

  return {
    operations,
    lists: [],
    seen,
    met,
    violations,
    nextGateway,
    send: async ({ slug, token, client }, { method = 'GET', path, body, bytes, key, expected, cutAfter }) => {
      const start = (place += 1);
      const id = `${slug}-${client}-${start}`;
      const cut = new AbortController();
      const { hostname: host, port } = new URL(nextGateway());
      const sending = send(
        { host, port: Number(port) },
        { host: `${slug}.localhost`, token },
        {
          ...{ method, path, body: bytes ?? body, kept: Infinity, signal: cut.signal },
          headers: {
            'X-Request-ID': id,
            ...(bytes !== undefined && { 'Content-Type': 'application/octet-stream' }),
            ...(key !== undefined && { 'Idempotency-Key': key }),
            ...(expected !== undefined && { 'If-Service-Resource-Version': String(expected) }),
          },
        },
      );
      const timer = cutAfter === undefined ? undefined : setTimeout(() => cut.abort(), cutAfter);
      const answer = await sending;
      clearTimeout(timer);
      const status = typeof answer.outcome === 'number' ? answer.outcome : undefined;
      const json = status === undefined || answer.text === '' ? {} : (JSON.parse(answer.text) as Json);
      const isUnknown = status === undefined || (json['details'] as Json | undefined)?.['outcome'] === 'unknown';
      const outcome = isUnknown ? 'unknown' : status < 300 ? 'done' : 'refused';
      const versions = outcome === 'done' ? versionsIn(slug, json) : [];
      const operation: Operation = {
        ...{ id, workspace: slug, client, method, path, body, key, expected, start, end: (place += 1), outcome },
        ...(status !== undefined && { status }),
        ...(typeof json['code'] === 'string' && { code: json['code'] }),
        isCut: status === undefined && cut.signal.aborted,
        isReplay: answer.headers['idempotency-replayed'] === 'true',
        versions: versions.map(({ name, revision }) => ({ name, revision })),
        text: key !== undefined || outcome !== 'done' ? answer.text : '',
      };
      operations.push(operation);
      for (const version of versions) see(operation, version);
      if (operation.isReplay) met.see('a replay');
      if (operation.isCut) met.see('a request that its client cut');
      else if (status === undefined) met.see('a broken connection');
      if (isUnknown && method !== 'GET') met.see('an unknown outcome');
      if (status !== undefined && status >= 400) met.see(operation.code ?? String(status));
      return { ...operation, json };
    },
    stop,
  };
}

/** Sends each request to the next gateway that is ready. */
function loadBalancer(gateways: readonly string[]): Pick<History, 'nextGateway' | 'stop'> {
  const ready = new Set(gateways);
  const stopping = new AbortController();
  let turn = 0;

  const watch = async (url: string) => {
    while (!stopping.signal.aborted) {
      const isReady = await httpClient(url)
        .get('/readyz')
        .then(({ status }) => status === 200)
        .catch(() => false);
      if (isReady) ready.add(url);
      else ready.delete(url);
      await delay(READINESS_INTERVAL, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const watching = gateways.length > 1 ? gateways.map(watch) : [];

  return {
    nextGateway: () => {
      if (stopping.signal.aborted) throw new Error('the run has ended');
      turn += 1;
      const candidates = ready.size > 0 ? [...ready] : gateways;
      return candidates[turn % candidates.length] ?? '';
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(watching);
    },
  };
}
