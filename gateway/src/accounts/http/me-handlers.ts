import { INTERNAL_PATHS, MAX_COUNTED_USE, quotaUse } from '@tocsin/schemas';
import { DomainError } from '@tocsin/http';
import type { ServicesClient } from '../../upstreams/clients/services-client.ts';
import { installationId } from '../store/installation-store.ts';
import { keyStore } from '../store/key-store.ts';
import { userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import type { KeyUses } from '../key-uses.ts';
import type { Dependencies } from '../run-command.ts';
import type { AccountApi } from './contracts.ts';
import { meView } from './views.ts';

export const meHandlers = ({
  dependencies: { database, clock },
  services,
  uses,
}: {
  dependencies: Dependencies;
  services: Pick<ServicesClient, 'ask'>;
  uses: Pick<KeyUses, 'find'>;
}): Pick<AccountApi, 'getMe'> => ({
  getMe: async ({
    principal: {
      workspace: { id },
      user_id: userId,
      key_id: keyId,
    },
  }) => {
    const [workspace, user, key] = await Promise.all([
      workspaceStore(database).find(id),
      userStore(database).find(id, userId),
      keyStore(database).find(id, keyId),
    ]);
    if (workspace === undefined || user === undefined || key === undefined) {
      throw new DomainError('authentication_required', 'The token is no longer valid');
    }
    const [{ answers }, { active: users }, keys, installation] = await Promise.all([
      // By the names of the quotas, without those of a service that does not answer in time.
      services.ask({
        services: ['incident', 'catalog', 'custom-field'],
        path: INTERNAL_PATHS.quotaUse,
        query: { workspace_id: id },
        answer: quotaUse,
      }),
      userStore(database).count(id, MAX_COUNTED_USE),
      keyStore(database).countValid(id, clock.now()),
      installationId(database),
    ]);
    const used = Object.assign({}, ...answers.map((answer) => answer.used), { users, api_keys: keys }) as Record<
      string,
      number
    >;
    const chat = answers.find((answer) => answer.chat !== undefined)?.chat ?? null;
    return { body: meView({ workspace, user, key, used, chat, installationId: installation }, uses.find(keyId)) };
  },
});
