import { type QuotaName, quotaOf, QUOTAS } from '@tocsin/schemas';
import type { Instant } from '@tocsin/runtime';
import { permissionsOf } from '../../identity/domain/roles.ts';
import type { ApiKey } from '../store/key-store.ts';
import type { User } from '../store/user-store.ts';
import type { Workspace } from '../store/workspace-store.ts';
import type { ApiKeyWire, MeWire, UserWire } from './wire.ts';

const propertiesOf = ({ email, name, role, seat, active }: User) => ({ email, name, role, seat, active });

/** The later one of the time that is stored and a use that may not be stored yet. */
export const laterUse = (stored: Instant | null, use: Instant | undefined): Instant | null =>
  use !== undefined && (stored === null || use > stored) ? use : stored;

/** @param lastUse of a key or session of the user, if it may not be stored yet; null: the caller may not know it */
export const userView = (user: User, lastUse: Instant | undefined | null): UserWire => ({
  id: user.id,
  revision: user.revision,
  ...propertiesOf(user),
  created_at: user.createdAt,
  updated_at: user.updatedAt,
  // An erased user was never seen.
  ...(lastUse !== null && {
    last_seen_at: user.active || user.lastSeenAt !== null ? laterUse(user.lastSeenAt, lastUse) : null,
  }),
});

const keyProperties = (key: ApiKey, lastUse: Instant | undefined) => ({
  name: key.name,
  prefix: key.shown,
  scopes: key.scopes,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  last_used_at: laterUse(key.lastUsedAt, lastUse),
});

/** @param lastUse of the key, if it is not stored yet */
export const keyView = (key: ApiKey, lastUse: Instant | undefined): ApiKeyWire => ({
  id: key.id,
  revision: key.revision,
  user_id: key.userId,
  ...keyProperties(key, lastUse),
  revoked_at: key.revokedAt,
});

/** Who calls, and what they have. */
interface Caller {
  workspace: Workspace;
  user: User;
  key: ApiKey;
  installationId: string;
  /** What is used of quotas, by their names, as far as it is known. */
  used: Readonly<Record<string, number>>;
  chat: boolean | null;
}

/** @param lastUse as for `keyView` */
export function meView(
  { workspace, user, key, used, chat, installationId }: Caller,
  lastUse: Instant | undefined,
): MeWire {
  const names = Object.keys(QUOTAS) as QuotaName[];
  return {
    installation_id: installationId,
    workspace: {
      ...{ id: workspace.id, slug: workspace.slug, name: workspace.name, demo: workspace.isDemo },
      ...{ short_title_required: workspace.shortTitleRequired, chat },
    },
    user: { id: user.id, ...propertiesOf(user) },
    permissions: [...permissionsOf(user.role)],
    api_key: { id: key.id, ...keyProperties(key, lastUse) },
    quotas: names.map((name) => ({ name, used: used[name] ?? null, limit: quotaOf(workspace, name) })),
  };
}
