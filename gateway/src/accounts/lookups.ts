import { notFound } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { type User, userStore } from './store/user-store.ts';
import { type Workspace, workspaceStore } from './store/workspace-store.ts';

/** Returns the row that a store finds. @throws DomainError `not_found` */
export async function existing<Row>(reading: Promise<Row | undefined>, what: string): Promise<Row> {
  const row = await reading;
  if (row === undefined) throw notFound(what);
  return row;
}

/** @throws DomainError `not_found` */
export const getWorkspace = async (trx: Knex, slug: string): Promise<Workspace> =>
  existing(workspaceStore(trx).findBySlug(slug), `The workspace ${slug}`);

/** @throws DomainError `not_found` */
export const getWorkspaceById = async (trx: Knex, id: number): Promise<Workspace> =>
  existing(workspaceStore(trx).find(id), `The workspace ${id}`);

/** @throws DomainError `not_found` */
export const getUser = async (trx: Knex, workspace: Workspace, email: string): Promise<User> =>
  existing(userStore(trx).findByEmail(workspace.id, email), `The user ${email} in ${workspace.slug}`);
