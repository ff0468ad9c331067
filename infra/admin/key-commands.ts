import { type Scope, SCOPES } from '@tocsin/schemas';
import { UsageError } from '../cli/src/operation-parameters.ts';
import { type Command, type Flag, parsePositive, workspaceFlag } from './command.ts';
import { keyView, ownedKeyView } from './views.ts';

const id: Flag = { value: 'N', help: "the key's ID", required: true, parse: parsePositive };
const expires: Flag = {
  value: 'TIME',
  help: 'when the key expires, such as 2030-01-31T12:00:00Z; never by default',
};

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as `24h`. @throws UsageError for another text */
function parseDuration(text: string, name: string): number {
  const [, amount, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined) {
    throw new UsageError(`${name}: ${text} is not a duration such as 90s, 30m, 24h or 7d`);
  }
  return Number(amount) * (UNITS[unit] ?? 0);
}

interface NewKey {
  workspace: string;
  user: string;
  name: string;
  scope?: Scope[];
  allScopes?: boolean;
  expires?: string;
}

const now = () => new Date().toISOString();

export const list: Command = {
  flags: {
    workspace: { value: 'SLUG', help: 'only the keys of this workspace' },
    user: { value: 'EMAIL', help: 'only the keys of users with this email address' },
  },
  table: {
    rows: ({ keys }) =>
      (keys as { scopes: string[] }[]).map(({ scopes, ...key }) => ({
        ...key,
        scopes: scopes.length === SCOPES.length ? 'all' : scopes.join(','),
      })),
    columns: [
      ...['id', 'workspace', 'user', 'name', 'prefix', 'state', 'scopes'],
      ...['created_at', 'last_used_at', 'expires_at', 'revoked_at', 'replaced_by'],
    ],
  },
  run: async ({ workspace, user }: { workspace?: string; user?: string }, { gateway }) => {
    const keys = await gateway.listKeys({ workspace, user });
    const at = now();
    return { keys: keys.map((key) => ownedKeyView(key, at)) };
  },
};

export const show: Command = {
  flags: { id },
  run: async ({ id: key }: { id: number }, { gateway }) => ({
    key: ownedKeyView(await gateway.getKey(key), now()),
  }),
};

export const create: Command = {
  flags: {
    workspace: workspaceFlag,
    user: { value: 'EMAIL', help: 'the user that the key acts for', required: true },
    name: { value: 'NAME', help: 'the purpose of the key', required: true },
    scope: { value: 'SCOPE', help: 'may be repeated', multiple: true, choices: SCOPES },
    'all-scopes': { help: 'all scopes' },
    expires,
  },
  run: async ({ scope = [], allScopes, ...values }: NewKey, { gateway }) => {
    const scopes = allScopes === true ? SCOPES : scope;
    if (scopes.length === 0) throw new UsageError('name at least one --scope, or --all-scopes');
    const { key, token } = await gateway.createKey({ ...values, scopes });
    return { key: keyView(key), token };
  },
};

export const rotate: Command = {
  flags: {
    id,
    overlap: {
      value: 'DURATION',
      help: 'how long the old token stays valid, such as 24h, at most 30d; by default it is revoked at once',
      parse: parseDuration,
    },
    expires: { ...expires, help: "when the new key expires; by default with the old key's expiry" },
  },
  run: async (values: { id: number; overlap?: number; expires?: string }, { gateway }) => {
    const { key, token, replaced } = await gateway.rotateKey({ overlap: 0, ...values });
    const at = now();
    return { key: ownedKeyView(key, at), token, replaced: ownedKeyView(replaced, at) };
  },
};

export const revoke: Command = {
  flags: { id },
  run: async ({ id: key }: { id: number }, { gateway }) => ({ key: keyView(await gateway.revokeKey(key)) }),
};
