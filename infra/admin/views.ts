import { type QuotaName, quotaOf, QUOTAS } from '@tocsin/http';
import type { ApiKey, User, Workspace } from '../../gateway/src/administration.ts';

export const workspaceView = (workspace: Workspace) => ({
  id: workspace.id,
  slug: workspace.slug,
  name: workspace.name,
  is_demo: workspace.isDemo,
  history_days: workspace.historyDays,
  reporting_currency: workspace.reportingCurrency,
  short_title_required: workspace.shortTitleRequired,
  rate_limit: workspace.rateLimit,
  quotas: Object.fromEntries((Object.keys(QUOTAS) as QuotaName[]).map((name) => [name, quotaOf(workspace, name)])),
  created_at: workspace.createdAt,
  updated_at: workspace.updatedAt,
});

export const userView = (user: User) => ({
  id: user.id,
  workspace_id: user.workspaceId,
  email: user.email,
  name: user.name,
  active: user.active,
  role: user.role,
  seat: user.seat,
  created_at: user.createdAt,
  updated_at: user.updatedAt,
});

export const keyView = (key: ApiKey) => ({
  id: key.id,
  user_id: key.userId,
  name: key.name,
  prefix: key.shown,
  scopes: key.scopes,
  expires_at: key.expiresAt,
  revoked_at: key.revokedAt,
  created_at: key.createdAt,
});

/** Formats an object for people: one line for each property, nested objects indented. */
export function formatAnswer(answer: Record<string, unknown>, indent = ''): string[] {
  return Object.entries(answer).flatMap(([name, value]) => {
    if (isList(value)) return [`${indent}${name}`, ...value.flatMap((item) => [`${indent}  - ${formatItem(item)}`])];
    if (isRecord(value)) return [`${indent}${name}`, ...formatAnswer(value, `${indent}  `)];
    if (Array.isArray(value)) return [`${indent}${name}: ${value.join(', ')}`];
    return [`${indent}${name}: ${typeof value === 'string' ? value : value === null ? 'none' : JSON.stringify(value)}`];
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.length > 0 && value.every(isRecord);

const formatItem = (item: Record<string, unknown>) =>
  Object.entries(item)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .join(', ');
