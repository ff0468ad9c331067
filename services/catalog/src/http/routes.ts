import { type Cursors, implement, type Route } from '@tocsin/http';
import { tierToWire } from '../domain/tiers.ts';
import type { Dependencies } from '../usecases/context.ts';
import { contracts } from './contracts.ts';
import { memberHandlers } from './member-handlers.ts';
import { onCallHandlers } from './on-call-handlers.ts';
import { serviceHandlers } from './service-handlers.ts';
import { teamHandlers } from './team-handlers.ts';

export const routes = (dependencies: Dependencies, cursors: Cursors): Route[] =>
  implement(contracts, {
    ...serviceHandlers(dependencies, cursors),
    ...teamHandlers(dependencies, cursors),
    ...memberHandlers(dependencies, cursors),
    ...onCallHandlers(dependencies),
    listServiceTiers: async ({ principal }) => {
      const tiers = await dependencies.configurations.tiers(principal.workspace);
      return { body: { service_tiers: tiers.map(tierToWire) } };
    },
  });
