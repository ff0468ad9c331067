import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { z } from 'zod';
import {
  AHEAD,
  keptShifts,
  type OnCallAddress,
  type OnCallFailure,
  type ReadShifts,
  type Shift,
} from '../domain/on-call.ts';

/** Sends one request for a source; the response has no more than the body of a success. */
export type Get = (
  url: URL,
  headers: Readonly<Record<string, string>>,
) => Promise<{ kind: 'body'; body: Buffer } | ({ kind: 'failure' } & OnCallFailure)>;

/** Where its API is, except for accounts in the European Union. */
export const PAGERDUTY_URL = 'https://api.pagerduty.com';

const PAGE = 100;
const MAX_PAGES = 10;

/** Null: without a beginning, or an end. */
const moment = z.iso.datetime({ offset: true }).nullish();

/** A page of `GET /oncalls`, with `include[]=users`. */
const page = z.object({
  oncalls: z.array(
    z.object({
      user: z.object({
        name: z.string().optional(),
        summary: z.string().nullish(),
        email: z.string().optional(),
      }),
      start: moment,
      end: moment,
    }),
  ),
  more: z.boolean().nullish(),
});

/** Reads the shifts of a schedule by PagerDuty's REST API, version 2. */
export async function readOnCalls(
  { url, credential, scheduleId }: OnCallAddress & { scheduleId: string },
  get: Get,
  now: Instant,
): Promise<ReadShifts> {
  const until = addMilliseconds(now, AHEAD);
  const shifts: Shift[] = [];
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const request = new URL('/oncalls', url);
    const query = { 'schedule_ids[]': scheduleId, 'include[]': 'users', since: now, until, limit: PAGE };
    for (const [name, value] of Object.entries({ ...query, offset: pages * PAGE })) {
      request.searchParams.set(name, String(value));
    }
    const response = await get(request, {
      accept: 'application/vnd.pagerduty+json;version=2',
      authorization: `Token token=${credential}`,
    });
    if (response.kind === 'failure') return response;
    const { success, data } = page.safeParse(parsed(response.body));
    if (!success) return { kind: 'failure', reason: 'content', status: null };
    for (const { user, start, end } of data.oncalls) {
      shifts.push({
        name: user.name ?? user.summary ?? '',
        emails: user.email === undefined ? [] : [user.email],
        from: start ? new Date(start).toISOString() : now,
        until: end ? new Date(end).toISOString() : until,
      });
    }
    if (data.more !== true) break;
  }
  return { kind: 'read', shifts: keptShifts(shifts, now) };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
