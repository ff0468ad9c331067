import { fold } from '@tocsin/schemas';
import { throttleByWorkspace } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { containing } from './domain/contains.ts';
import { type ListedUser, type UserFilter, userLists } from './store/user-store.ts';

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
  continueAfter?: string | undefined;
  /** What the comparison costs besides the cost of the operation (contract: Limits). */
  cost: number;
}

/** How many users are read at a time for a search. */
const PORTION = 200;
/** How many users a page compares with the searched text (contract: Lists and cursors). */
const MAX_COMPARED = 1_000;
/** Of each portion after the first. */
const PORTION_COST = 10;

/** Returns up to `limit` users of a workspace, by email address (contract: Users). */
export async function listUsers(database: Knex, request: UserListRequest): Promise<UserList> {
  const { workspaceId, filter, text, limit } = request;
  const lists = userLists(database);
  if (text === undefined) {
    return { users: await lists.page({ workspaceId, filter, after: request.after, limit }), cost: 0 };
  }
  const matches = containing(fold(text));
  const ids: number[] = [];
  let { after } = request;
  /** Returns whether there may be more users. */
  const compare = async (): Promise<boolean> => {
    const portion = await lists.texts({ workspaceId, filter, after, limit: PORTION });
    for (const { id, name, email } of portion) if (matches(fold(name)) || matches(fold(email))) ids.push(id);
    after = portion.at(-1)?.sortKey ?? after;
    return portion.length === PORTION;
  };
  let hasMore = await compare();
  let cost = 0;
  // Gateways compare while they serve everybody else, so one portion after the other, with pauses.
  while (hasMore && ids.length < limit && PORTION * (1 + cost / PORTION_COST) < MAX_COMPARED) {
    hasMore = await throttleByWorkspace(workspaceId, compare);
    cost += PORTION_COST;
  }
  const users = await lists.listed(workspaceId, ids.slice(0, limit));
  return { users, cost, continueAfter: hasMore && ids.length < limit ? after : undefined };
}
