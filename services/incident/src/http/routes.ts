import { type Cursors, implement, type Route } from '@tocsin/http';
import type { Dependencies } from '../dependencies.ts';
import type { AttachmentUrl } from '../timeline/http/attachment-urls.ts';
import { changelogHandlers } from '../incidents/http/changelog-handlers.ts';
import { channelNameHandlers } from '../chat/http/channel-name-handlers.ts';
import { configurationHandlers } from '../configuration/http/handlers.ts';
import { contracts } from './contracts.ts';
import { incidentHandlers } from '../incidents/http/handlers.ts';
import { lifecycleHandlers } from '../lifecycle/http/handlers.ts';
import { listHandlers } from '../list/http/handlers.ts';
import { provisioningHandlers } from '../chat/http/provisioning-handlers.ts';
import { timelineHandlers } from '../timeline/http/handlers.ts';
import { valueHandlers } from '../values/http/handlers.ts';

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
