import { SCOPES } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { administration } from '../../../gateway/src/administration.ts';

/** A workspace with one API key with all scopes, at the default limits. */
export interface Workspace {
  readonly id: number;
  readonly host: string;
  readonly token: string;
}

/** Returns a function that creates workspaces with default limits, each with a responder's key with all scopes. */
export function workspaceFactory(gatewayDatabase: Knex): () => Promise<Workspace> {
  const admin = administration(gatewayDatabase);
  const prefix = `a${Date.now().toString(36)}`;
  let count = 0;
  return async () => {
    count += 1;
    const workspace = `${prefix}-${count}`;
    const email = `mallory@${workspace}.example`;
    const { id } = await admin.createWorkspace({ slug: workspace, name: workspace });
    await admin.createUser({ workspace, email, name: 'Mallory', role: 'admin', seat: 'responder' });
    const { token } = await admin.createKey({ workspace, user: email, name: 'attack', scopes: SCOPES });
    return { id, host: `${workspace}.localhost`, token };
  };
}
