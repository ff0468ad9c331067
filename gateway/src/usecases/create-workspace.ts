import { invalidState } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { checkSlug } from '../domain/checks.ts';
import { type Workspace, type WorkspaceSettings, workspaceStore } from '../store/workspace-store.ts';
import { announceWorkspace } from './announce.ts';
import { recordWorkspaceChange } from './record-change.ts';
import { checkSettings } from './set-workspace.ts';

export type NewWorkspace = { slug: string; name: string } & Partial<WorkspaceSettings>;

/** Creates a workspace; settings that are not given get their defaults (contract: Administration). */
export async function createWorkspace(
  trx: Knex.Transaction,
  { slug, ...settings }: NewWorkspace,
  now: Instant,
): Promise<Workspace> {
  checkSlug(slug);
  const checked = checkSettings(settings);
  const store = workspaceStore(trx);
  await store.lockCreation();
  if ((await store.findBySlug(slug)) !== undefined) throw invalidState(`The workspace ${slug} exists already`);
  const workspace = await store.insert(slug, checked, now);
  await announceWorkspace(trx, workspace, now);
  await recordWorkspaceChange(trx, { verb: 'created', before: null, after: workspace, now });
  return workspace;
}
