import { fold } from '@tocsin/contracts';
import type { Knex } from '@tocsin/postgres';
import { containing } from '../domain/contains.ts';
import { type ListedUser, type UserFilter, userStore } from '../store/user-store.ts';

export interface UserListRequest {
  workspaceId: number;
  filter: UserFilter;
  /** Part of a name or an email address, in any case. */
  text: string | undefined;
  /** The sort key after which the page begins. */
  after: string | undefined;
  limit: number;
}

export interface UserList {
  users: ListedUser[];
  /** Where the list continues if not all that follow were compared with the searched text. */
  continueAfter?: string;
  /** What the comparison costs besides the cost of the operation (contract: Limits). */
  cost: number;
}

/** How many users are read at a time for a search. */
const PORTION = 500;
/** How many users a page compares with the searched text (contract: Lists and cursors). */
const MAX_COMPARED = 2_000;
/** Of each portion after the first. Gateways compare while they serve everybody else. */
const PORTION_COST = 10;

/** Returns up to `limit` users of a workspace, by email address (contract: Users). */
export async function listUsers(database: Knex, request: UserListRequest): Promise<UserList> {
  const { workspaceId, filter, text, limit } = request;
  const store = userStore(database);
  if (text === undefined) {
    return { users: await store.page({ workspaceId, filter, after: request.after, limit }), cost: 0 };
  }
  const matches = containing(fold(text));
  const users: ListedUser[] = [];
  let { after } = request;
  let cost = -PORTION_COST;
  for (let compared = 0; compared < MAX_COMPARED; compared += PORTION) {
    const portion = await store.page({ workspaceId, filter, after, limit: PORTION });
    cost += PORTION_COST;
    users.push(...portion.filter(({ name, email }) => matches(fold(name)) || matches(fold(email))));
    if (users.length >= limit) return { users: users.slice(0, limit), cost };
    after = portion.at(-1)?.sortKey;
    if (portion.length < PORTION || after === undefined) return { users, cost };
  }
  return { users, cost, ...(after !== undefined && { continueAfter: after }) };
}
