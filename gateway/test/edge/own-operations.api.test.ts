import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import { type Scope, SCOPES } from '@tocsin/schemas';
import type { AnyDocumentation, Contract } from '@tocsin/http';
import type { Answer, Client } from '@tocsin/testing';
import { openGatewayDatabase, ROLES, type Role, SEATS } from '../../src/administration.ts';
import { contracts } from '../../src/http/contracts.ts';
import { documentation } from '../../src/http/documentation.ts';
import { startGatewayHarness } from '../gateway-harness.ts';
import { at, beginSession, KEYS, type Member, memberOf, type MemberOptions, USERS } from '../members.ts';

type OperationId = keyof typeof contracts;

const env = { RATE_LIMIT_PER_MINUTE: '1000000' };
const gateway = await startGatewayHarness({ env });
const database = openGatewayDatabase({ GATEWAY_DATABASE_URL: gateway.database.url('gateway') });
await gateway.admin.setWorkspace({ slug: 'acme', quotas: { api_keys: null, users: null } });
afterAll(async () => {
  await database.destroy();
  await gateway.close();
});

/** What a request is about: a user and a key of theirs. */
type Target = Pick<Member, 'user' | 'key'>;
let emails = 0;
const email = () => `new-${(emails += 1)}@acme.example`;

interface Named {
  id: number | string;
  revision?: number;
}

/** What a path names, by the path in front of it. */
const NAMED: Readonly<Record<string, (target: Target) => Named | Promise<Named>>> = {
  [`${USERS}/`]: ({ user }) => user,
  '/api/v1/users/': ({ user }) => user,
  [`${KEYS}/`]: ({ key }) => key,
  '/api/v1/settings/sessions/': async ({ user }) => beginSession(gateway, user.email),
  '/api/v1/idempotency-keys/': async ({ user }) => {
    const key = { workspace_id: user.workspaceId, user_id: user.id, route: 'createUser', key: 'used' };
    const outcome = { digest: Buffer.alloc(32), token: randomUUID(), state: 'finished', status: 201, body: '{}' };
    await database('idempotency_keys').insert({ ...key, ...outcome });
    return { id: key.key };
  },
};

/** Bodies that every caller may send, where the documented ones have more scopes, or an address once. */
const BODIES: Partial<Record<OperationId, () => object>> = {
  createUser: () => ({ email: email(), name: 'New' }),
  createApiKey: () => ({ name: 'k', scopes: ['api_keys:manage'] }),
  updateApiKey: () => ({ name: 'c' }),
};

const DOCUMENTED: Readonly<Record<OperationId, AnyDocumentation>> = documentation;

/** Sends a valid request of an operation: the documented one, about a user or what they have. */
async function send(id: OperationId, client: Client, target: Target): Promise<Answer> {
  const { method, path, precondition }: Contract = contracts[id];
  const [home = '', hasName] = path.split('{');
  const named = hasName === undefined ? { id: '', revision: 1 } : await NAMED[home]?.(target);
  if (named === undefined) throw new Error(`nothing is named in ${path}: add it to NAMED`);
  const headers = precondition === true ? at(named.revision ?? 0) : {};
  const body = BODIES[id]?.() ?? DOCUMENTED[id].body;
  return client.send(method.toUpperCase(), path.replace(/\{\w+\}/, String(named.id)), body, headers);
}

const MANAGERS: readonly Role[] = ['owner', 'admin'];
const scopesOf = ({ scope }: Contract): readonly Scope[] => (typeof scope === 'string' ? [scope] : scope);

/** What gives every scope needs every scope. */
const NEEDS_ALL: readonly string[] = ['createUserLoginLink'];

/** What the contract demands of a caller, as the answer says it. */
function expected(id: string, contract: Contract, { role, scopes }: { role: Role; scopes: readonly Scope[] }): string {
  if (!scopesOf(contract).some((scope) => scopes.includes(scope))) return '403 missing_scope';
  if (contract.needs?.includes('manage_settings') === true && !MANAGERS.includes(role)) {
    return '403 missing_role_permission';
  }
  if (contract.needs?.includes('delete_permanently') === true && role !== 'owner') return '403 missing_role_permission';
  // The example confirms the address of another user.
  if (id === 'eraseUser') return '400 invalid_request';
  if (NEEDS_ALL.includes(id) && SCOPES.some((scope) => !scopes.includes(scope))) return '403 missing_scope';
  return `${contract.reply.status}`;
}

const outcomeOf = ({ status, body }: Answer) => (status < 300 ? `${status}` : `${status} ${body.code}`);

describe.each(Object.entries(contracts as Record<OperationId, Contract>))('%s', (id, contract) => {
  test('needs what its contract says, of every role, seat and set of scopes', async () => {
    const needed = scopesOf(contract);
    const sets: readonly (readonly Scope[])[] = [
      SCOPES,
      needed.slice(0, 1),
      SCOPES.filter((scope) => !needed.includes(scope)),
    ].filter(({ length }) => length > 0);
    for (const role of ROLES) {
      for (const seat of SEATS) {
        for (const scopes of sets) {
          const caller: MemberOptions = { role, seat, scopes };
          const member = await memberOf(gateway, caller);
          // One's own key and user are within the reach of every role that may do it at all.
          const answer = await send(id as OperationId, member.client, member);
          expect({ caller, outcome: outcomeOf(answer) }).toEqual({
            caller,
            outcome: expected(id, contract, { role, scopes }),
          });
        }
      }
    }
  });
});

/** Operations on a user or a key that somebody else has, and what tells a caller without `manage_settings`. */
const ON_OTHERS = {
  updateUser: '403 missing_role_permission',
  updateApiKey: '404 not_found',
  rotateApiKey: '404 not_found',
  revokeApiKey: '404 not_found',
  createUserLoginLink: '403 missing_role_permission',
} as const;

describe.each(Object.entries(ON_OTHERS))('%s of somebody else', (id, withoutPermission) => {
  test('needs manage_settings, and a role that is not below theirs', async () => {
    for (const role of ROLES) {
      const { client } = await memberOf(gateway, { role });
      for (const other of ROLES) {
        const outcome = outcomeOf(await send(id as OperationId, client, await memberOf(gateway, { role: other })));
        const isAbove = ROLES.indexOf(other) < ROLES.indexOf(role);
        const allowed = isAbove ? '403 permission_denied' : `${contracts[id as OperationId].reply.status}`;
        const reached = MANAGERS.includes(role) ? allowed : withoutPermission;
        expect({ role, other, outcome }).toEqual({ role, other, outcome: reached });
      }
    }
  });
});

test('who gives a role, or a key to somebody, needs manage_settings and a role that is not below', async () => {
  for (const role of ROLES) {
    const { client } = await memberOf(gateway, { role });
    for (const other of ROLES) {
      const target = await memberOf(gateway, { role: other });
      const low = await memberOf(gateway, { role: 'viewer' });
      const outcomes = {
        create: outcomeOf(await client.post(USERS, { email: email(), name: 'New', role: other })),
        raise: outcomeOf(await client.patch(`${USERS}/${low.user.id}`, { role: other }, at(1))),
        key: outcomeOf(await client.post(KEYS, { name: 'k', scopes: ['teams:read'], user_id: target.user.id })),
      };
      const isAbove = ROLES.indexOf(other) < ROLES.indexOf(role);
      const reached = (status: string) => {
        if (!MANAGERS.includes(role)) return '403 missing_role_permission';
        return isAbove ? '403 permission_denied' : status;
      };
      expect({ role, other, ...outcomes }).toEqual({
        ...{ role, other },
        ...{ create: reached('201'), raise: reached('200'), key: reached('201') },
      });
    }
  }
});
