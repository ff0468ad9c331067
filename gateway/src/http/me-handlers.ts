import type { QuotaUses } from '../clients/quota-uses.ts';
import type { Dependencies } from '../usecases/run-command.ts';
import type { KeyUses } from '../usecases/key-uses.ts';
import { readCaller } from '../usecases/read-caller.ts';
import type { GatewayApi } from './contracts.ts';
import { meView } from './views.ts';

export const meHandlers = ({
  dependencies: { database, clock },
  quotas,
  uses,
}: {
  dependencies: Dependencies;
  quotas: Pick<QuotaUses, 'read'>;
  uses: Pick<KeyUses, 'find'>;
}): Pick<GatewayApi, 'getMe'> => ({
  getMe: async ({ principal }) => ({
    body: meView(await readCaller({ database, clock, quotas }, principal), uses.find(principal.key_id)),
  }),
});
