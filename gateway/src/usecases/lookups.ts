import { notFound } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { keyStore, type OwnedKey } from '../store/key-store.ts';
import { type User, userStore } from '../store/user-store.ts';
import { type Workspace, workspaceStore } from '../store/workspace-store.ts';

/** @throws DomainError `not_found` */
export async function getWorkspace(trx: Knex, slug: string): Promise<Workspace> {
  const workspace = await workspaceStore(trx).findBySlug(slug);
  if (workspace === undefined) throw notFound(`The workspace ${slug}`);
  return workspace;
}

/** @throws DomainError `not_found` */
export async function getWorkspaceById(trx: Knex, id: number): Promise<Workspace> {
  const workspace = await workspaceStore(trx).find(id);
  if (workspace === undefined) throw notFound(`The workspace ${id}`);
  return workspace;
}

/** @throws DomainError `not_found` */
export async function getKey(trx: Knex, id: number): Promise<OwnedKey> {
  const key = await keyStore(trx).find(id);
  if (key === undefined) throw notFound(`The key ${id}`);
  return key;
}

/** @throws DomainError `not_found` */
export async function getUser(trx: Knex, workspace: Workspace, email: string): Promise<User> {
  const user = await userStore(trx).findByEmail(workspace.id, email);
  if (user === undefined) throw notFound(`The user ${email} in ${workspace.slug}`);
  return user;
}
