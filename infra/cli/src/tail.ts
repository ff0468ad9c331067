import type { FeedEvent, FollowOptions, Tocsin } from '@tocsin/sdk';
import { messageOf } from './describe-error.ts';
import { findResource } from './find-id.ts';
import { visible } from './visible.ts';
import type { Call } from './session.ts';

/** What to follow, as flags. */
export interface FollowFlags {
  types?: string;
  resource?: string;
  from: string;
  after?: string;
}

export const followOptions = ({ types, resource, from, after }: FollowFlags, call: Call): FollowOptions => ({
  ...(after === undefined ? { from } : { after }),
  ...(types !== undefined && { types: types.split(',') }),
  ...(resource !== undefined && { resource }),
  signal: call.session.signal,
  onInterruption: (error) => call.output.note(`${messageOf(error)}; trying again`),
});

/** Prints each event: a line for people, or the event as a line of JSON. */
export async function tail(call: Call, flags: FollowFlags): Promise<void> {
  const { output } = call;
  const tocsin = await call.connect();
  const named = await withResource(tocsin, flags, call);
  await untilEnded(call, async () => {
    for await (const { event } of tocsin.events.follow(followOptions(named, call)))
      output.line(output.isTable ? summaryOf(event) : JSON.stringify(event));
  });
}

/** The flags with the ID of the resource that they name. */
export const withResource = async <Flags extends FollowFlags>(
  tocsin: Tocsin,
  flags: Flags,
  { session: { signal } }: Call,
): Promise<Flags> =>
  flags.resource === undefined
    ? flags
    : { ...flags, resource: await findResource(tocsin, { text: flags.resource, what: '--resource', signal }) };

/** Runs what only Ctrl-C ends, which is then no failure. */
export async function untilEnded({ session }: Call, run: () => Promise<void>): Promise<void> {
  await run().catch((error: unknown) => {
    if (!session.signal.aborted) throw error;
  });
}

/** `2026-11-20T09:30:00.000Z incident.created INC-4 Checkout is down` */
export function summaryOf({ occurred_at: at, type, data }: FeedEvent): string {
  const resource = Object.values(data as object).find((value) => typeof value === 'object' && !Array.isArray(value)) as
    | Record<string, unknown>
    | undefined;
  const texts = [resource?.['reference'], resource?.['title'] ?? resource?.['name']];
  return visible([at, type, ...texts.filter((text) => typeof text === 'string' && text !== '')].join(' '));
}
