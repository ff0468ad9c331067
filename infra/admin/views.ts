import { type QuotaName, quotaOf, QUOTAS } from '@tocsin/schemas';
import type { ApiKey, OwnedKey, User, Workspace } from '../../gateway/src/administration.ts';

/** All settings of a workspace, whatever they are, with the quotas that apply; its version is internal. */
export function workspaceView({ version: _, quotas, ...workspace }: Workspace): Record<string, unknown> {
  const names = Object.keys(QUOTAS) as QuotaName[];
  const effective = Object.fromEntries(names.map((name) => [name, quotaOf({ quotas }, name)]));
  return { ...snakeCase(workspace), quotas: effective };
}

export const userView = ({ id, workspaceId, email, name, active, role, seat, createdAt, updatedAt }: User) =>
  snakeCase({ id, workspaceId, email, name, active, role, seat, createdAt, updatedAt });

export const keyView = (key: ApiKey) => ({
  id: key.id,
  user_id: key.userId,
  name: key.name,
  prefix: key.shown,
  scopes: key.scopes,
  expires_at: key.expiresAt,
  revoked_at: key.revokedAt,
  created_at: key.createdAt,
  last_used_at: key.lastUsedAt,
});

/** A key with its owner, and whether its token is valid. */
export const ownedKeyView = (key: OwnedKey, now: string) => ({
  ...keyView(key),
  replaced_by: key.replacedBy,
  workspace: key.workspace,
  user: key.user,
  state: stateOf(key, now),
});

function stateOf({ revokedAt, expiresAt, ownerActive }: OwnedKey, now: string): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && expiresAt <= now) return 'expired';
  return ownerActive ? 'active' : 'user deactivated';
}

/** Converts the names of properties, also of nested objects. */
export const snakeCase = (record: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]: [string, unknown]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      typeof value === 'object' && value !== null && !Array.isArray(value) ? snakeCase(value) : value,
    ]),
  );
