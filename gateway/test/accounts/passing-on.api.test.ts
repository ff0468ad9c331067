import { afterAll, expect, test } from '@jest/globals';
import { SCOPES } from '@tocsin/schemas';
import { addMilliseconds, type Instant, systemClock } from '@tocsin/runtime';
import { type Answer, type Client, httpClient } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { type Role, ROLES } from '../../src/administration.ts';
import { startGatewayHarness } from '../gateway-harness.ts';
import { clientOf, KEYS, type Member, memberOf, USERS } from '../members.ts';

const MINUTE = 60_000;
const YEAR = 365 * 24 * 60 * MINUTE;

let now = systemClock.now();
const gateway = await startGatewayHarness({
  env: { RATE_LIMIT_PER_MINUTE: '100000', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '100000' },
  overrides: { clock: { now: () => now }, identityAges: { version: 0, entry: 0 } },
});
afterAll(async () => gateway.close());

/** A token that somebody has, as `/me` shows it. */
interface Credential {
  kind: 'key' | 'session';
  id: number;
  token: string;
  client: Client;
  user: { id: number; role: Role };
  scopes: readonly string[];
  expiresAt: Instant | null;
}

const isLater = (one: Instant | null, other: Instant | null) => other !== null && (one === null || one > other);
const earliest = (times: readonly (Instant | null)[]) =>
  times.reduce((one, other) => (isLater(one, other) ? other : one), null);

async function describeCredential(token: string, client: Client): Promise<Credential> {
  const { body } = await client.get('/api/v1/me');
  const { id, scopes, expires_at: expiresAt } = body.api_key;
  const kind = token.startsWith('tcs_') ? 'key' : 'session';
  return { kind, id, token, client, user: body.user, scopes, expiresAt };
}

const keyOf = async (workspace: string, token: string) =>
  describeCredential(token, clientOf(gateway, token, workspace));

/** The response of a step; `session` if a cookie came with it. */
type Given = Answer & { session?: Credential };

/** Sends a token as the page of the console does. */
async function signIn(workspace: string, token: string): Promise<Given> {
  const host = { Host: `${workspace}.localhost`, 'Sec-Fetch-Site': 'same-origin' };
  const bearer = { Authorization: `Bearer ${token}` };
  const answer = await httpClient(gateway.app.url, host).post('/app/session', undefined, bearer);
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  if (cookie === '') return answer;
  const client = httpClient(gateway.app.url, host, { Cookie: cookie });
  return { ...answer, session: await describeCredential(cookie.slice('tocsin='.length), client) };
}

const KINDS = ['create', 'rotate', 'sign in', 'link', 'replay'] as const;

/** How a chain begins, and a step of it. */
interface Root {
  role: Role;
  scopes: readonly string[];
  /** Milliseconds; null: for ever. */
  lifetime: number | null;
}

/** What is left out is one's own: whom it is for or whose key it replaces, the scopes, the end. */
interface Step extends Partial<Root> {
  kind: (typeof KINDS)[number];
}

// Half of them may do everything, because most steps are refused to others.
const role = fc.oneof(fc.constant('owner' as const), fc.constantFrom(...ROLES));
const lifetime = fc.oneof(fc.constant(null), fc.constantFrom(2 * MINUTE, 30 * 24 * 60 * MINUTE, YEAR));
const scopes = fc.oneof(
  { weight: 2, arbitrary: fc.constant(SCOPES) },
  fc.constant(['api_keys:manage', 'users:write', 'incidents:read']),
  fc.subarray([...SCOPES], { minLength: 1 }),
);
const roots: fc.Arbitrary<Root> = fc.record({ role, scopes, lifetime });
const kind = fc.constantFrom(...KINDS);
const step: fc.Arbitrary<Step> = fc.record({ kind, role, scopes, lifetime }, { requiredKeys: ['kind'] });

let workspaces = 0;
const outcomes = new Map<string, number>();
const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);

/** A workspace with a user of each role, whose key can do everything and made another one with an Idempotency-Key. */
async function populate() {
  workspaces += 1;
  const workspace = `chain-${workspaces}`;
  await gateway.admin.createWorkspace({ slug: workspace, name: 'Chain' });
  const people = await Promise.all(ROLES.map(async (role) => memberOf(gateway, { workspace, role })));
  await Promise.all(people.map(async ({ client }) => replay(client)));
  return { workspace, people };
}

const replay = async (client: Client) =>
  client.post(KEYS, { name: 'everything', scopes: SCOPES }, { 'Idempotency-Key': 'everything' });

test('no chain of five credentials ends with more scopes, a later end or a higher role than it began with', async () => {
  const chain = async (begin: Root, steps: readonly Step[]) => {
    now = systemClock.now();
    const { workspace, people } = await populate();
    const personOf = (of: Role) => people[ROLES.indexOf(of)] as Member;
    const made = await gateway.admin.createKey({
      ...{ workspace, user: personOf(begin.role).user.email, name: 'root', scopes: begin.scopes },
      expires: begin.lifetime === null ? null : addMilliseconds(now, begin.lifetime),
    });
    const had: Credential[] = [await keyOf(workspace, made.token)];
    const begunByRoot: Credential[] = [];

    /** Returns the response of a step, and the token that it gives. */
    const take = async ({ client, user, ...held }: Credential, wanted: Step): Promise<Given> => {
      const other = wanted.role === undefined ? undefined : personOf(wanted.role);
      if (wanted.kind === 'sign in') return signIn(workspace, held.token);
      if (wanted.kind === 'replay') return replay(client);
      if (wanted.kind === 'link') {
        const answer = await client.post(`${USERS}/${other?.user.id ?? user.id}/login-link`);
        return answer.status === 201 ? signIn(workspace, answer.body.login_link.path.split('#')[1]) : answer;
      }
      if (wanted.kind === 'rotate') {
        const own = had.findLast((each) => each.kind === 'key')?.id;
        return client.post(`${KEYS}/${other?.key.id ?? own}/rotate`, { overlap_hours: 1 });
      }
      const { scopes: names = held.scopes, lifetime: time } = wanted;
      return client.post(KEYS, {
        ...{ name: 'made', scopes: names, ...(other !== undefined && { user_id: other.user.id }) },
        ...(time !== undefined && { expires_at: time === null ? null : addMilliseconds(now, time) }),
      });
    };

    for (const each of steps) {
      const held = had.at(-1) as Credential;
      const answer = await take(held, each);
      const token = answer.body?.token as string | undefined;
      const next = answer.session ?? (token === undefined ? undefined : await keyOf(workspace, token));
      count(`${each.kind} ${next === undefined ? 'refused' : 'allowed'}`);
      if (next === undefined) {
        expect([400, 401, 403, 404, 409]).toContain(answer.status);
        continue;
      }
      expect(held.scopes).toEqual(expect.arrayContaining([...next.scopes]));
      const bound = earliest(had.filter(({ kind }) => kind === 'key').map(({ expiresAt }) => expiresAt));
      expect({ next: next.expiresAt, bound, isLater: isLater(next.expiresAt, bound) }).toMatchObject({
        isLater: false,
      });
      expect(ROLES.indexOf(next.user.role)).toBeGreaterThanOrEqual(ROLES.indexOf(held.user.role));
      if (next.user.id !== held.user.id) expect(['owner', 'admin']).toContain(held.user.role);
      if (each.kind === 'sign in' && held === had[0]) begunByRoot.push(next);
      had.push(next);
    }

    const statuses = async (credentials: readonly Credential[]) =>
      Promise.all(credentials.map(async ({ client }) => (await client.get('/api/v1/me')).status));
    // Use extends nothing.
    const before = await statuses(had);
    for (const [index, { token, client, ...known }] of had.entries())
      if (before[index] === 200 && known.kind === 'session')
        expect(await describeCredential(token, client)).toMatchObject(known);
    // The sessions that a key began end with it; what it made stays.
    await gateway.admin.revokeKey(made.key.id);
    const ended = (credential: Credential) => credential === had[0] || begunByRoot.includes(credential);
    expect(await statuses(had)).toEqual(had.map((each, index) => (ended(each) ? 401 : before[index])));
    // And nothing outlives the end that the first one had.
    const end = had[0]?.expiresAt ?? null;
    if (end === null) return;
    now = end;
    expect(await statuses(had)).toEqual(had.map(() => 401));
  };
  await fc.assert(fc.asyncProperty(roots, fc.array(step, { minLength: 5, maxLength: 5 }), chain), { numRuns: 50 });
  // Each kind of step was allowed to some and refused to others.
  const met = KINDS.flatMap((kind) => [`${kind} allowed`, `${kind} refused`]);
  expect([...outcomes.keys()].toSorted()).toEqual(met.toSorted());
}, 240_000);
