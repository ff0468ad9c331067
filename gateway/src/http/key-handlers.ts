import { parseTimestamp } from '@tocsin/contracts';
import { type Cursors, idempotently } from '@tocsin/http';
import type { ApiKey } from '../store/key-store.ts';
import { createKey, type KeyWithToken } from '../usecases/create-key.ts';
import type { KeyUses } from '../usecases/key-uses.ts';
import { getVisibleKey } from '../usecases/get-visible-key.ts';
import { revokeKey } from '../usecases/revoke-key.ts';
import { rotateKey } from '../usecases/rotate-key.ts';
import { type Dependencies, runCommand, runCreate } from '../usecases/run-command.ts';
import { setKey } from '../usecases/set-key.ts';
import { contracts, type GatewayApi } from './contracts.ts';
import { keyPages } from './key-pages.ts';
import type { SealedTokens } from './sealed-tokens.ts';
import { keyView } from './views.ts';

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
}): Pick<GatewayApi, 'listApiKeys' | 'createApiKey' | 'getApiKey' | 'updateApiKey' | 'rotateApiKey' | 'revokeApiKey'> {
  const { database } = dependencies;
  const page = keyPages({ database, cursors, path: contracts.listApiKeys.path });
  const view = (key: ApiKey) => keyView(key, uses.find(key.id));
  const reply = (key: ApiKey) => ({ body: { api_key: view(key) }, revision: key.revision });
  const outcome = (status: number, { key, token }: KeyWithToken) => ({
    status,
    text: tokens.seal(view(key), token),
    revision: key.revision,
  });
  return {
    listApiKeys: async (request) => {
      const { rows, pagination } = await page(request, { view });
      return { body: { api_keys: rows, pagination } };
    },

    createApiKey: async (request) => {
      const { principal, body } = request;
      const { user_id: userId = principal.user_id, expires_at: expires, name, scopes } = body;
      const stored = await idempotently(database, request, async (key) =>
        runCreate(dependencies, { request, key }, async (trx, context) => {
          const input = { workspaceId: principal.workspace.id, userId, name, scopes };
          return outcome(201, await createKey(trx, { ...input, expires: parseTimestamp(expires ?? '') }, context));
        }),
      );
      return tokens.reveal(stored);
    },

    getApiKey: async ({ principal, params: { id } }) => reply(await getVisibleKey(database, principal, id)),

    updateApiKey: async (request) => {
      const { principal, params, expectedRevision, body } = request;
      const input = { workspaceId: principal.workspace.id, id: params.id, expectedRevision, ...body };
      return reply(await runCommand(dependencies, request, async (trx, context) => setKey(trx, input, context)));
    },

    rotateApiKey: async (request) => {
      const { principal, params, body } = request;
      const stored = await idempotently(database, request, async (key) =>
        runCreate(dependencies, { request, key }, async (trx, context) => {
          const rotation = { workspaceId: principal.workspace.id, id: params.id };
          const overlap = (body.overlap_hours ?? 0) * HOUR;
          return outcome(200, await rotateKey(trx, { ...rotation, overlap }, context));
        }),
      );
      return tokens.reveal(stored);
    },

    revokeApiKey: async (request) => {
      const input = { workspaceId: request.principal.workspace.id, id: request.params.id };
      return reply(await runCommand(dependencies, request, async (trx, context) => revokeKey(trx, input, context)));
    },
  };
}
