import type { Receiver } from '@tocsin/testing';

/** A shift as PagerDuty's REST API has it. */
export interface FakeOnCall {
  user: { name: string; email: string };
  start: string | null;
  end: string | null;
}

/**
 * Makes a server respond like `GET /oncalls` of PagerDuty's REST API, by its public reference: with the header of version 2,
 * a token, a list in pages, and 404 for an unknown schedule.
 */
export function playPagerDuty(server: Receiver, { token, oncalls }: { token: string; oncalls: readonly FakeOnCall[] }) {
  server.respond = ({ path, headers }) => {
    const url = new URL(path, 'https://api.example.com');
    const respond = (status: number, body: object) => (response: Parameters<ReturnType<Receiver['respond']>>[0]) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const failed = (status: number, message: string) => respond(status, { error: { message, code: 2_000 } });
    if (headers.authorization !== `Token token=${token}`) return failed(401, 'Invalid token');
    if (headers.accept !== 'application/vnd.pagerduty+json;version=2' || url.pathname !== '/oncalls')
      return failed(404, 'Not found');
    if (url.searchParams.get('schedule_ids[]') !== 'PI7DH85') return failed(404, 'Not found');
    const offset = Number(url.searchParams.get('offset') ?? 0);
    const limit = Number(url.searchParams.get('limit') ?? 25);
    const hasUsers = url.searchParams.getAll('include[]').includes('users');
    return respond(200, {
      oncalls: oncalls.slice(offset, offset + limit).map(({ user, ...times }, index) => ({
        user: { id: `P${offset + index}`, type: 'user', summary: user.name, ...(hasUsers && user) },
        schedule: { id: 'PI7DH85', type: 'schedule_reference', summary: 'Payments' },
        escalation_policy: { id: 'PT20YPA', type: 'escalation_policy_reference', summary: 'Payments' },
        escalation_level: 1,
        ...times,
      })),
      limit,
      offset,
      more: offset + limit < oncalls.length,
      total: null,
    });
  };
}
