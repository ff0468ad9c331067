import { type Principal, signPrincipal } from '@tocsin/http';
import type { Keyring } from '@tocsin/runtime';
import { digestOf, isToken } from '../domain/token.ts';
import type { Identity, IdentityStore } from '../store/identity-store.ts';
import { freshCache } from './fresh-cache.ts';

/** An identity, and what vouches for it to the services. */
export interface Caller {
  identity: Identity;
  principal: string;
}

export interface Identities {
  findWorkspaceId(slug: string): Promise<number | undefined>;
  /** Expiry is not looked at: it can come while an identity is remembered. */
  findByToken(token: string): Promise<Caller | undefined>;
  /** Something changed: look it all up anew. */
  drop(): void;
}

/** A gateway that misses an announcement still honours a change within a second. */
const TTL = 800;

export function identities(store: IdentityStore, keyring: Keyring): Identities {
  const workspaces = freshCache({
    size: 10_000,
    ttl: TTL,
    find: async (slug) => {
      const id = await store.findWorkspaceId(slug);
      return id === undefined ? undefined : { id };
    },
  });
  const callers = freshCache({
    size: 10_000,
    ttl: TTL,
    find: async (digest): Promise<Caller | undefined> => {
      const identity = await store.findByDigest(digest);
      return identity && { identity, principal: signPrincipal(keyring, principalOf(identity)) };
    },
  });
  return {
    findWorkspaceId: async (slug) => (await workspaces.get(slug))?.id,
    findByToken: async (token) => (isToken(token) ? callers.get(digestOf(token)) : undefined),
    drop: () => {
      workspaces.drop();
      callers.drop();
    },
  };
}

const principalOf = ({ workspace, userId, keyId }: Identity): Principal => ({
  kind: 'user',
  workspace,
  user_id: userId,
  key_id: keyId,
});
