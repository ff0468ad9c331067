import { type Cursors, implement, type Route } from '@tocsin/http';
import type { Dependencies } from '../usecases/context.ts';
import type { AttachmentUrl } from './attachment-urls.ts';
import { changelogHandlers } from './changelog-handlers.ts';
import { channelNameHandlers } from './channel-name-handlers.ts';
import { configurationHandlers } from './configuration-handlers.ts';
import { contracts } from './contracts.ts';
import { incidentHandlers } from './incident-handlers.ts';
import { lifecycleHandlers } from './lifecycle-handlers.ts';
import { listHandlers } from './list-handlers.ts';
import { provisioningHandlers } from './provisioning-handlers.ts';
import { timelineHandlers } from './timeline-handlers.ts';
import { valueHandlers } from './value-handlers.ts';

export interface HandlerDependencies {
  dependencies: Dependencies;
  cursors: Cursors;
  attachmentUrl: AttachmentUrl;
}

export const routes = (dependencies: HandlerDependencies): Route[] =>
  implement(contracts, {
    ...listHandlers(dependencies),
    ...incidentHandlers(dependencies),
    ...lifecycleHandlers(dependencies),
    ...changelogHandlers(dependencies),
    ...timelineHandlers(dependencies),
    ...valueHandlers(dependencies),
    ...provisioningHandlers(dependencies),
    ...channelNameHandlers(dependencies),
    ...configurationHandlers(dependencies),
  });
