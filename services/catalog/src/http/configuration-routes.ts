import { route } from '@tocsin/http';
import type { Tools } from '../usecases/context.ts';
import { serviceTierView } from './views.ts';
import { serviceTiersReply } from './wire.ts';

export function configurationRoutes({ tools }: { tools: Tools }) {
  return [
    route({
      id: 'listServiceTiers',
      method: 'get',
      path: '/api/v1/configuration/service-tiers',
      summary: "The workspace's service tiers, in rank order",
      tag: 'Configuration',
      scope: 'services:read',
      reply: { status: 200, body: serviceTiersReply },
      handle: async ({ principal }) => {
        const tiers = await tools.configurations.tiers(principal.workspace);
        return { body: { service_tiers: tiers.map(serviceTierView) } };
      },
    }),
  ];
}
