import type { ServicesClient } from '../clients/services-client.ts';
import type { Dependencies } from '../usecases/run-command.ts';
import type { KeyUses } from '../usecases/key-uses.ts';
import { readCaller } from '../usecases/read-caller.ts';
import type { GatewayApi } from './contracts.ts';
import { meView } from './views.ts';

export const meHandlers = ({
  dependencies: { database, clock },
  services,
  uses,
}: {
  dependencies: Dependencies;
  services: Pick<ServicesClient, 'ask'>;
  uses: Pick<KeyUses, 'find'>;
}): Pick<GatewayApi, 'getMe'> => ({
  getMe: async ({ principal }) => ({
    body: meView(await readCaller({ database, clock, services }, principal), uses.find(principal.key_id)),
  }),
});
