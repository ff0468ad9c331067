import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type FeedEvent, signWebhook } from '@tocsin/sdk';
import { findContext } from './contexts.ts';
import { UsageError } from './operation-parameters.ts';
import type { Call } from './session.ts';
import { openCursor, untilEndedOrExpired } from './stored-cursor.ts';
import { type FollowFlags, followOptions, summaryOf, withResource } from './tail.ts';

export interface ListenFlags extends FollowFlags {
  forwardTo: string;
  secret?: string;
  reset?: boolean;
}

/** Milliseconds for a response, and at most between two attempts. */
const DEADLINE = 10_000;
const LONGEST_WAIT = 30_000;

/**
 * Sends each event of the feed to a receiver until that responds with a 2xx, one after the other, and then stores the
 * cursor behind it. So a restart of this command, of the receiver or of Tocsin repeats an event at most, and loses none.
 */
export async function listen(call: Call, given: ListenFlags): Promise<void> {
  const { forwardTo, types = '' } = given;
  const { output, session, options } = call;
  if (!URL.canParse(forwardTo) || !/^https?:$/.test(new URL(forwardTo).protocol))
    throw new UsageError(`--forward-to: ${forwardTo} is not an address`);
  const { url } = findContext(session.env, options.context);
  const tocsin = await call.connect();
  const flags = await withResource(tocsin, given, call);
  const { cursor, kept, store } = await openCursor<{ secret: string }>(tocsin, call, {
    ...{ command: 'listen', flags },
    place: [flags.resource, types.split(',').toSorted(), forwardTo],
    keep: (stored) => ({ secret: flags.secret ?? stored.secret ?? `whsec_${randomBytes(32).toString('base64url')}` }),
  });
  output.note(`signing secret ${kept.secret}`);
  output.note(`listening to ${url}, forwarding to ${forwardTo}`);

  const follow = followOptions({ ...flags, ...(cursor !== undefined && { after: cursor }) }, call);
  await untilEndedOrExpired(call, async () => {
    for await (const { event, cursor: next } of tocsin.events.follow({ ...follow, onCursor: store })) {
      const status = await deliver(event, { forwardTo, secret: kept.secret, call });
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
    const headers = { ...(await signWebhook(secret, { id: event.id, body })) };
    const { status, said } = await post(forwardTo, body, { headers, signal });
    if (status < 300) return status;
    signal.throwIfAborted();
    if (attempt === 0) call.output.note(`${event.type} ${event.id}: ${said}; trying until it is received`);
    await delay(Math.min(LONGEST_WAIT, 500 * 2 ** attempt), undefined, { signal });
  }
}

/** Posts it once. A lost connection is the status 503. What `said` says has no part of the address. */
async function post(
  url: string,
  body: string,
  { headers, signal }: { headers: Readonly<Record<string, string>>; signal: AbortSignal },
): Promise<{ status: number; said: string }> {
  try {
    const { status, body: answer } = await fetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      headers: { 'Content-Type': 'application/json', ...headers },
      signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE)]),
    });
    // A response that breaks off has a status all the same.
    await answer?.cancel().catch(() => undefined);
    return { status, said: `the receiver responded with ${status}` };
  } catch (error) {
    const { name, cause } = error as Error;
    const code = name === 'TimeoutError' ? 'no response' : (cause as { code?: string } | undefined)?.code;
    return { status: 503, said: `the receiver cannot be reached (${code ?? 'lost connection'})` };
  }
}

/** Webhooks name the resource beside the data. */
function resourceOf(event: FeedEvent): object {
  if (!('incident' in event.data)) return {};
  const { id, reference, revision } = event.data.incident as { id: number; reference: string; revision?: number };
  return { resource: { type: 'incident', id, reference, revision } };
}
