import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type FeedEvent, signWebhook } from '@tocsin/sdk';
import { findContext, readPrivate, stateFolder, writePrivately } from './contexts.ts';
import { UsageError } from './operation-parameters.ts';
import type { Call } from './session.ts';
import { type FollowFlags, followOptions, summaryOf, untilEnded } from './tail.ts';

export interface ListenFlags extends FollowFlags {
  forwardTo: string;
  secret?: string;
  reset?: boolean;
}

/** What is kept between runs. */
interface State {
  /** Behind the last event that was received; undefined before the first. */
  cursor?: string | undefined;
  secret: string;
}

/** Milliseconds that a receiver has, as with webhooks, and at most between two attempts. */
const DEADLINE = 10_000;
const LONGEST_WAIT = 30_000;

/**
 * Sends each event of the feed to a receiver until that responds with a 2xx, one after the other, and then stores the
 * cursor behind it. So a restart of this command, of the receiver or of Tocsin repeats an event at most, and loses none.
 */
export async function listen(call: Call, flags: ListenFlags): Promise<void> {
  const { forwardTo, types = '', reset = false } = flags;
  const { output, session, options } = call;
  const { signal } = session;
  if (!URL.canParse(forwardTo) || !/^https?:$/.test(new URL(forwardTo).protocol))
    throw new UsageError(`--forward-to: ${forwardTo} is not an address`);
  const { url } = findContext(session.env, options.context);
  const folder = stateFolder(session.env);
  const file = `listen-${createHash('sha256').update(`${url}\n${forwardTo}\n${types}`).digest('hex').slice(0, 16)}.json`;
  const stored = readPrivate(folder, file) as State | undefined;
  const state: State = {
    cursor: reset ? undefined : stored?.cursor,
    secret: flags.secret ?? stored?.secret ?? `whsec_${randomBytes(32).toString('base64url')}`,
  };
  const store = (cursor?: string) => writePrivately(folder, file, Object.assign(state, { cursor }));

  const tocsin = await call.connect();
  if (state.cursor === undefined && flags.from === 'now')
    state.cursor = (await tocsin.events.list({ limit: 1 }, { signal })).pagination.next_cursor;
  store(state.cursor);
  output.note(`signing secret ${state.secret}`);
  output.note(`listening to ${url}, forwarding to ${forwardTo}`);

  const { cursor } = state;
  const follow = followOptions({ ...flags, ...(cursor !== undefined && { after: cursor }) }, call);
  await untilEnded(call, async () => {
    for await (const { event, cursor: next } of tocsin.events.follow({ ...follow, onCursor: store })) {
      const status = await deliver(event, { forwardTo, secret: state.secret, call });
      store(next);
      output.line(output.isTable ? `${summaryOf(event)} → ${status}` : JSON.stringify({ id: event.id, status }));
    }
  });
}

/** Sends an event until it is received. Returns the status of the response. */
async function deliver(
  event: FeedEvent,
  { forwardTo, secret, call }: { forwardTo: string; secret: string; call: Call },
): Promise<number> {
  const body = JSON.stringify({ ...event, ...resourceOf(event) });
  const { signal } = call.session;
  for (let attempt = 0; ; attempt += 1) {
    const failure = await send().catch((error: unknown) => {
      signal.throwIfAborted();
      const { cause, message } = error as Error;
      return (cause as { code?: string } | undefined)?.code ?? message;
    });
    if (typeof failure === 'number') return failure;
    if (attempt === 0) call.output.note(`${event.type} ${event.id}: ${failure}; trying until it is received`);
    await delay(Math.min(LONGEST_WAIT, 500 * 2 ** attempt), undefined, { signal });
  }

  async function send(): Promise<number | string> {
    const headers = { 'Content-Type': 'application/json', ...(await signWebhook(secret, { id: event.id, body })) };
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE)]);
    const init = { method: 'POST', headers, body, signal: deadline, redirect: 'manual' } as const;
    const response = await fetch(forwardTo, init);
    await response.body?.cancel();
    return response.ok ? response.status : `the receiver responded with ${response.status}`;
  }
}

/** Webhooks name the resource beside the data. */
function resourceOf(event: FeedEvent): object {
  if (!('incident' in event.data)) return {};
  const { id, reference, revision } = event.data.incident as { id: number; reference: string; revision?: number };
  return { resource: { type: 'incident', id, reference, revision } };
}
