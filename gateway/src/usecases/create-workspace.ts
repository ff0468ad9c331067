import type { Instant, Knex } from '@tocsin/runtime';
import { checkSlug } from '../domain/checks.ts';
import { type Workspace, type WorkspaceSettings, workspaceStore } from '../store/workspace-store.ts';
import { announceWorkspace } from './announce.ts';
import { checkSettings } from './set-workspace.ts';

export type NewWorkspace = { slug: string; name: string } & Partial<WorkspaceSettings>;

/** Makes a workspace; what is not given has its default (contract: Administration). */
export async function createWorkspace(
  trx: Knex.Transaction,
  { slug, ...settings }: NewWorkspace,
  now: Instant,
): Promise<Workspace> {
  checkSlug(slug);
  const workspace = await workspaceStore(trx).insert(slug, checkSettings(settings), now);
  await announceWorkspace(trx, workspace, now);
  return workspace;
}
