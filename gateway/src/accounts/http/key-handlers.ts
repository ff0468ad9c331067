import { parseTimestamp } from '@tocsin/schemas';
import type { Cursors, Reply } from '@tocsin/http';
import type { ApiKey } from '../store/key-store.ts';
import type { KeyUses } from '../key-uses.ts';
import { checkTokenReplay } from '../grants.ts';
import { createKey, type KeyWithToken, revokeKey, rotateKey, setKey } from '../keys.ts';
import { contextOf, type Dependencies, runCommand, runCreate } from '../run-command.ts';
import { type AccountApi, accountContracts } from './contracts.ts';
import type { SealedTokens } from './sealed-tokens.ts';
import { keyView } from './views.ts';
import { getVisibleKey, keyPages } from './visible-keys.ts';

const HOUR = 3_600_000;

export function keyHandlers({
  dependencies,
  uses,
  cursors,
  tokens,
}: {
  dependencies: Dependencies;
  uses: Pick<KeyUses, 'find'>;
  cursors: Cursors;
  tokens: SealedTokens;
}): Pick<AccountApi, 'listApiKeys' | 'createApiKey' | 'getApiKey' | 'updateApiKey' | 'rotateApiKey' | 'revokeApiKey'> {
  const { database } = dependencies;
  const page = keyPages({ database, cursors, path: accountContracts.listApiKeys.path });
  const view = (key: ApiKey) => keyView(key, uses.find(key.id));
  const reply = (key: ApiKey) => ({ body: { api_key: view(key) }, revision: key.revision });
  const outcome =
    (status: number) =>
    ({ key, token }: KeyWithToken) => ({
      status,
      text: tokens.seal(view(key), token),
      revision: key.revision,
    });
  /** The key of the request may not be the one that the token was made with. */
  const reveal = async (request: Parameters<typeof contextOf>[1], stored: Reply<never>) =>
    tokens.reveal(stored, async ({ user_id: userId, scopes, expires_at: expiresAt }) => {
      const keyOfToken = { workspaceId: request.principal.workspace.id, userId, scopes, expiresAt };
      return database.transaction(async (trx) => checkTokenReplay(trx, keyOfToken, contextOf(dependencies, request)));
    });
  return {
    listApiKeys: async (request) => {
      const { rows, pagination } = await page(request, { view });
      return { body: { api_keys: rows, pagination } };
    },

    createApiKey: async (request) => {
      const { user_id: userId = request.principal.user_id, expires_at: expires, name, scopes } = request.body;
      const input = { userId, name, scopes, expires: expires && parseTimestamp(expires) };
      return reveal(request, await runCreate(dependencies, request, [createKey, input, outcome(201)]));
    },

    getApiKey: async ({ principal, params: { id } }) => reply(await getVisibleKey(database, principal, id)),

    updateApiKey: async (request) => {
      const { params, expectedRevision, body } = request;
      return reply(await runCommand(dependencies, request, [setKey, { ...params, expectedRevision, ...body }]));
    },

    rotateApiKey: async (request) => {
      const input = { id: request.params.id, overlap: (request.body.overlap_hours ?? 0) * HOUR };
      return reveal(request, await runCreate(dependencies, request, [rotateKey, input, outcome(200)]));
    },

    revokeApiKey: async (request) => reply(await runCommand(dependencies, request, [revokeKey, request.params])),
  };
}
