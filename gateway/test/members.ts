import { SCOPES } from '@tocsin/contracts';
import { type Client, httpClient } from '@tocsin/testing';
import type { ApiKey, Role, Seat, User } from '../src/administration.ts';
import type { GatewayHarness } from './gateway-harness.ts';

/** A user with a key, and a client that sends requests with it. */
export interface Member {
  user: User;
  key: ApiKey;
  token: string;
  client: Client;
}

export interface MemberOptions {
  workspace?: string;
  role?: Role;
  seat?: Seat;
  /** Default: all. */
  scopes?: readonly string[];
}

export const USERS = '/api/v1/settings/users';
export const KEYS = '/api/v1/settings/api-keys';
export const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });

let members = 0;

export const clientOf = ({ app }: GatewayHarness, token: string, workspace = 'acme'): Client =>
  httpClient(app.url, { Host: `${workspace}.localhost`, Authorization: `Bearer ${token}` });

/** Creates a user, by default a member without a seat, and a key of theirs. */
export async function memberOf(gateway: GatewayHarness, options: MemberOptions = {}): Promise<Member> {
  const { workspace = 'acme', role, seat, scopes = SCOPES } = options;
  members += 1;
  const email = `member-${members}@acme.example`;
  const user = await gateway.admin.createUser({ workspace, email, name: `Member ${members}`, role, seat });
  const { key, token } = await gateway.admin.createKey({ workspace, user: email, name: 'test', scopes });
  return { user, key, token, client: clientOf(gateway, token, workspace) };
}
