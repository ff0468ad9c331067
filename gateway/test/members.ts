import { SCOPES } from '@tocsin/schemas';
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

/** Signs a user in, and returns the session with a client that sends its cookie as the console does. */
export async function beginSession(gateway: GatewayHarness, email: string, workspace = 'acme') {
  const host = { Host: `${workspace}.localhost`, 'Sec-Fetch-Site': 'same-origin' };
  const link = await gateway.admin.createLoginLink({ workspace, email });
  const { status, headers, text } = await httpClient(gateway.app.url, host).post('/app/session', undefined, {
    Authorization: `Bearer ${link.token}`,
    'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  });
  if (status !== 204) throw new Error(`not signed in: ${status} ${text}`);
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
  const client = httpClient(gateway.app.url, host, { Cookie: cookie });
  const { body } = await client.get('/api/v1/me');
  return { link: link.token, cookie, client, id: body.api_key.id as number };
}

/** Creates a user, by default a member without a seat, and a key of theirs. */
export async function memberOf(gateway: GatewayHarness, options: MemberOptions = {}): Promise<Member> {
  const { workspace = 'acme', role, seat, scopes = SCOPES } = options;
  members += 1;
  const email = `member-${members}@acme.example`;
  const user = await gateway.admin.createUser({ workspace, email, name: `Member ${members}`, role, seat });
  const { key, token } = await gateway.admin.createKey({ workspace, user: email, name: 'test', scopes });
  return { user, key, token, client: clientOf(gateway, token, workspace) };
}
