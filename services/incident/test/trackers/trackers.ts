import { INTERNAL_PATHS } from '@tocsin/schemas';
import { asService, behave, eventually, httpClient, startReceiver, testClock } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { startService } from '../service.ts';
import { aUser } from '../snapshots.ts';
import { type FakeKind, FAKES, type FakeTracker, fakeTracker } from './fakes.ts';

export const TRACKERS = '/api/v1/settings/trackers';
export const version = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });

/** The incident service beside a tracker, with a clock that stands still. */
export async function startWithTracker() {
  const receiver = stopAfterAll(await startReceiver());
  const clock = testClock();
  const service = stopAfterAll(
    await startService(
      { ca: receiver.ca, clock, trackerInterval: 50, trackerTimeout: 2_000 },
      { WEBHOOK_TEST_RECEIVERS: receiver.hostAndPort(), PUBLIC_URL: 'https://{workspace}.tocsin.example' },
    ),
  );
  const users = await service.owners.change(1, (data) => void (data.users = [aUser(42), aUser(43)]));
  const client = service.as({ workspace: { id: 1, version: users } });
  const internal = httpClient(service.app.url, asService('gateway', 'incident'));

  /** Each at a path of its own: the first at `/1`. */
  const fakes: FakeTracker[] = [];
  receiver.respond = (request) => {
    const [, nth, path] = /^\/(\d+)(\/.*)$/.exec(request.path) ?? [];
    const fake = fakes[Number(nth) - 1];
    return fake === undefined ? behave.answer(404) : fake.respond({ ...request, path: path! });
  };

  /** Creates a tracker of a kind, and the other side of it. */
  const create = async (name: string, settings: object = {}) => {
    const kind = FAKES[name]!;
    const fake = fakeTracker(kind);
    fakes.push(fake);
    const url = receiver.url(`/${fakes.length}`);
    const body = { name: `${name} ${fakes.length}`, ...kind.settings(url), ...settings };
    const created = await client.post(TRACKERS, body);
    if (created.status !== 201) throw new Error(`${created.status} ${created.text}`);
    const { tracker, secret } = created.body as { tracker: { id: number }; secret: string };
    const path = `${TRACKERS}/${tracker.id}`;
    return { kind, fake, path, secret, id: tracker.id, current: async () => (await client.get(path)).body.tracker };
  };
  type Tracker = Awaited<ReturnType<typeof create>>;

  /** Declares an incident and adds a follow-up. */
  const followUp = async (properties: object = {}, incident: object = {}) => {
    const declared = (await client.post('/api/v1/incidents', { title: 'Checkout is down', ...incident })).body.incident;
    const of = `/api/v1/incidents/${declared.id}`;
    const added = await client.post(`${of}/follow-ups`, { title: 'Alert on the pool', ...properties });
    if (added.status !== 201) throw new Error(`${added.status} ${added.text}`);
    const path = `/api/v1/follow-ups/${added.body.follow_up.id}`;
    const current = async () => (await client.get(path)).body.follow_up;
    return {
      ...{ of, path, id: added.body.follow_up.id as number, created: added.body.follow_up, current },
      set: async (status: string, revision?: number) =>
        client.patch(path, { status }, version(revision ?? (await current()).revision)),
      ticket: async (tracker: { id: number }) => client.post(`${path}/ticket`, { tracker_id: tracker.id }),
      unlink: async () => client.delete(`${path}/ticket`),
      shows: async (ticket: Record<string, unknown>, what = JSON.stringify(ticket)) =>
        eventually(
          async () => {
            const shown = (await current()).ticket;
            return Object.entries(ticket).every(([name, value]) => shown?.[name] === value) && shown;
          },
          { what },
        ),
    };
  };

  /** Sends a webhook of the tracker, as the gateway forwards it. */
  const send = async ({ id }: { id: number }, { body, headers }: ReturnType<FakeKind['hook']>): Promise<boolean> => {
    const encoded = Buffer.from(body).toString('base64');
    const hook = { workspace_id: 1, tracker_id: id, headers, body: encoded };
    return (await internal.post(INTERNAL_PATHS.trackerHooks, hook)).body.is_verified;
  };
  const hook = async (tracker: Tracker, nth = 0, secret = tracker.secret) =>
    send(tracker, tracker.kind.hook(tracker.fake.issues[nth]!, secret));

  /** Lets time pass once nothing is under way, so that no lease ends before its holder does. */
  const later = async (milliseconds: number) => {
    await eventually(async () => {
      const { rows } = await service.knex.raw(
        `select count(*)::int as count from follow_up_tickets k join trackers t on t.id = k.tracker_id
        where k.lease_token is not null
          or (k.due_at is not null and greatest(k.due_at, t.due_at) <= ? and t.archived_at is null and not t.is_paused)`,
        [clock.now()],
      );
      return rows[0].count === 0;
    });
    clock.advance(milliseconds);
  };

  return { service, receiver, clock, later, client, create, followUp, send, hook };
}
