import { type QuotaName, quotaOf, QUOTAS } from '@tocsin/contracts';
import type { Instant } from '@tocsin/runtime';
import { permissionsOf } from '../domain/roles.ts';
import type { ApiKey } from '../store/key-store.ts';
import type { User } from '../store/user-store.ts';
import type { Caller } from '../usecases/read-caller.ts';
import type { SessionWire } from './session-wire.ts';
import type { ApiKeyWire, MeWire, UserWire } from './wire.ts';

const propertiesOf = ({ email, name, role, seat, active }: User) => ({ email, name, role, seat, active });

export const userView = (user: User): UserWire => ({
  id: user.id,
  revision: user.revision,
  ...propertiesOf(user),
  created_at: user.createdAt,
  updated_at: user.updatedAt,
});

const keyProperties = (key: ApiKey, lastUse: Instant | undefined) => ({
  name: key.name,
  prefix: key.shown,
  scopes: key.scopes,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  last_used_at: lastUse ?? key.lastUsedAt,
});

/** @param lastUse of the key, if it is not stored yet */
export const keyView = (key: ApiKey, lastUse: Instant | undefined): ApiKeyWire => ({
  id: key.id,
  revision: key.revision,
  user_id: key.userId,
  ...keyProperties(key, lastUse),
  revoked_at: key.revokedAt,
});

/** @param lastUse as for `keyView` */
export const sessionView = (
  session: ApiKey,
  lastUse: Instant | undefined,
  { key_id: ownId }: { key_id: number },
): SessionWire => ({
  id: session.id,
  user_id: session.userId,
  name: session.name,
  current: session.id === ownId,
  created_at: session.createdAt,
  last_used_at: lastUse ?? session.lastUsedAt,
  expires_at: session.expiresAt,
  revoked_at: session.revokedAt,
});

/** @param lastUse as for `keyView` */
export function meView({ workspace, user, key, used }: Caller, lastUse: Instant | undefined): MeWire {
  const names = Object.keys(QUOTAS) as QuotaName[];
  return {
    workspace: { id: workspace.id, slug: workspace.slug, name: workspace.name, demo: workspace.isDemo },
    user: { id: user.id, ...propertiesOf(user) },
    permissions: [...permissionsOf(user.role)],
    api_key: { id: key.id, ...keyProperties(key, lastUse) },
    quotas: names.map((name) => ({ name, used: used[name] ?? null, limit: quotaOf(workspace, name) })),
  };
}
