import { type Cursors, implement, type Route } from '@tocsin/http';
import { channelNameHandlers } from '../chat/http/channel-name-handlers.ts';
import { provisioningHandlers } from '../chat/http/provisioning-handlers.ts';
import { configurationHandlers } from '../configuration/http/handlers.ts';
import { configurationChangeHandlers } from '../configuration-changes/http/handlers.ts';
import { creationHandlers } from '../creation/http/handlers.ts';
import type { Dependencies } from '../dependencies.ts';
import { changelogHandlers } from '../incidents/http/changelog-handlers.ts';
import { incidentHandlers } from '../incidents/http/handlers.ts';
import { renderedIncidents } from '../incidents/http/rendered-incidents.ts';
import { lifecycleHandlers } from '../lifecycle/http/handlers.ts';
import { listHandlers } from '../list/http/handlers.ts';
import type { AttachmentUrl } from '../timeline/http/attachment-urls.ts';
import { transferHandlers } from '../transfer/http/handlers.ts';
import { timelineHandlers } from '../timeline/http/handlers.ts';
import { valueHandlers } from '../values/http/handlers.ts';
import { contracts } from './contracts.ts';

/** Every command and query of the API, with the room that has it. */
export function routes(options: {
  dependencies: Dependencies;
  cursors: Cursors;
  attachmentUrl: AttachmentUrl;
}): Route[] {
  const { dependencies } = options;
  const rendered = renderedIncidents();
  const list = listHandlers({ ...options, rendered });
  const creation = creationHandlers(dependencies);
  const incidents = incidentHandlers({ ...options, rendered });
  const changelog = changelogHandlers(options);
  const lifecycle = lifecycleHandlers(dependencies);
  const timeline = timelineHandlers(options);
  const values = valueHandlers(dependencies);
  const provisioning = provisioningHandlers(dependencies);
  const channelName = channelNameHandlers(dependencies);
  const configuration = configurationHandlers(dependencies);
  const configurationChanges = configurationChangeHandlers(dependencies);
  const transfer = transferHandlers(options);

  const commands = {
    createIncident: creation.createIncident,
    updateIncident: incidents.updateIncident,
    resolveIncident: lifecycle.resolveIncident,
    closeIncident: lifecycle.closeIncident,
    reopenIncident: lifecycle.reopenIncident,
    archiveIncident: lifecycle.archiveIncident,
    restoreIncident: lifecycle.restoreIncident,
    createTimelineEvent: timeline.createTimelineEvent,
    updateTimelineEvent: timeline.updateTimelineEvent,
    deleteTimelineEvent: timeline.deleteTimelineEvent,
    updateIncidentCustomFields: values.updateIncidentCustomFields,
    deleteIncidentCustomField: values.deleteIncidentCustomField,
    retryIncidentProvisioning: provisioning.retryIncidentProvisioning,
    setIncidentChannelName: channelName.setIncidentChannelName,
    renameIncidentChannel: channelName.renameIncidentChannel,
    replaceConfiguration: configurationChanges.replaceConfiguration,
    importIncidents: transfer.importIncidents,
  };
  const queries = {
    listIncidents: list.listIncidents,
    listArchivedIncidents: list.listArchivedIncidents,
    getIncidentStatistics: list.getIncidentStatistics,
    getIncident: incidents.getIncident,
    getIncidentByReference: incidents.getIncidentByReference,
    listIncidentChangelog: changelog.listIncidentChangelog,
    listTimelineEvents: timeline.listTimelineEvents,
    getTimelineEvent: timeline.getTimelineEvent,
    listIncidentCustomFields: values.listIncidentCustomFields,
    getIncidentProvisioning: provisioning.getIncidentProvisioning,
    previewIncidentChannelName: channelName.previewIncidentChannelName,
    listWorkflowStatuses: configuration.listWorkflowStatuses,
    listSeverities: configuration.listSeverities,
    getConfiguration: configurationChanges.getConfiguration,
    exportIncidents: transfer.exportIncidents,
  };
  return implement(contracts, { ...commands, ...queries });
}
