import { type Contracts, endpoint, type Handlers, pageQuery, pathId } from '@tocsin/http';
import { z } from 'zod';
import { changelogPage } from '../incidents/http/changelog-wire.ts';
import {
  channelNameReply,
  channelNamePreviewReply,
  channelNameRequest,
  provisioningReply,
  provisioningRetry,
  channelRenameReply,
} from '../chat/http/wire.ts';
import { severitiesReply, workflowStatusesReply } from '../configuration/http/wire.ts';
import {
  archiveRequest,
  closeRequest,
  reopenRequest,
  resolveRequest,
  transitionReply,
} from '../lifecycle/http/wire.ts';
import { listQuery, listReply } from '../list/http/wire.ts';
import {
  newTimelineEvent,
  timelineEventPatch,
  timelineEventReply,
  timelinePage,
  timelineQuery,
} from '../timeline/http/wire.ts';
import { valuesPatch, valuesReply } from '../values/http/wire.ts';
import { incidentPatch, incidentReply, newIncident, newIncidentReply } from '../incidents/http/wire.ts';

const INCIDENTS = '/api/v1/incidents';
const INCIDENT = `${INCIDENTS}/{id}`;
const TIMELINE = `${INCIDENT}/timeline`;
const EVENT = '/api/v1/timeline/{id}';
const VALUES = `${INCIDENT}/custom-fields`;
const CHANNEL_NAME = `${INCIDENT}/slack/channel-name`;

const params = z.strictObject({ id: pathId.meta({ description: 'ID of the incident' }) });
const eventParams = z.strictObject({ id: pathId.meta({ description: 'ID of the timeline event' }) });
const read = { scope: 'incidents:read' } as const;
const create = { scope: 'incidents:write', needs: ['active_responder'] } as const;
/** Fails while the incident is archived. */
const write = { scope: 'incidents:write', needs: ['active_responder', 'mutable_incident'] } as const;
const writeValues = { scope: 'custom_fields:write', needs: write.needs } as const;
/** Counts and custom fields read more rows than other parameters. */
const listCost = { base: 2, parameters: { include_counts: 4, custom_filter: 4, sort_custom_field: 4 } };
const readLists = {
  tag: 'Incidents',
  ...read,
  query: listQuery,
  // Of an item of custom_filter.
  errors: ['unknown_field'],
  cost: listCost,
  reply: { status: 200, body: listReply },
} as const;
const incident = { status: 200, body: incidentReply, versioned: true } as const;
/** The body may name the expected revision. */
const transition = {
  tag: 'Incidents',
  ...write,
  params,
  bodyOptional: true,
  errors: ['precondition_failed', 'invalid_resource_state'],
} as const;
const transitioned = { status: 200, body: transitionReply, versioned: true } as const;
const event = { status: 200, body: timelineEventReply, versioned: true } as const;
const values = { status: 200, body: valuesReply } as const;
const channel = {
  tag: 'Chat',
  scope: 'incidents:write',
  needs: ['active_responder', 'mutable_incident', 'slack_channel'],
  params,
  // The chat has fifteen seconds (`CHAT_TIMEOUTS`), and the gateway must not give up before it.
  deadline: 20_000,
  cost: { base: 5 },
} as const;
const channelName = { body: channelNameRequest, bodyFault: 'invalid_slack_channel_name_request' } as const;

/** The API of the incident service (contract: Incidents, Timeline, Custom fields, Chat). */
export const contracts = {
  listIncidents: { ...endpoint('GET', INCIDENTS, 'List incidents'), ...readLists },
  listArchivedIncidents: { ...endpoint('GET', `${INCIDENTS}/archived`, 'List archived incidents'), ...readLists },
  createIncident: {
    ...endpoint('POST', INCIDENTS, 'Create an incident'),
    tag: 'Incidents',
    ...create,
    idempotent: true,
    // A value of an archived field.
    errors: ['invalid_resource_state'],
    // The document of a timeline import may take ten seconds, after the create itself.
    deadline: 25_000,
    body: newIncident,
    reply: { status: 201, body: newIncidentReply, versioned: true },
  },
  getIncident: { ...endpoint('GET', INCIDENT, 'Get an incident'), tag: 'Incidents', ...read, params, reply: incident },
  getIncidentByReference: {
    ...endpoint('GET', '/api/v1/incident-references/{reference}', 'Get an incident by its reference'),
    tag: 'Incidents',
    ...read,
    params: z.strictObject({
      reference: z
        .string()
        .min(1)
        .meta({ description: 'The `human_id` of an incident, such as `INC-4`, in any case of letters' }),
    }),
    reply: incident,
  },
  updateIncident: {
    ...endpoint('PATCH', INCIDENT, 'Update an incident'),
    tag: 'Incidents',
    ...write,
    params,
    precondition: true,
    body: incidentPatch,
    reply: incident,
  },
  resolveIncident: {
    ...endpoint('POST', `${INCIDENT}/resolve`, 'Resolve an incident'),
    ...transition,
    body: resolveRequest,
    reply: transitioned,
  },
  closeIncident: {
    ...endpoint('POST', `${INCIDENT}/close`, 'Close an incident without a resolution'),
    ...transition,
    body: closeRequest,
    reply: transitioned,
  },
  reopenIncident: {
    ...endpoint('POST', `${INCIDENT}/reopen`, 'Reopen a resolved or closed incident'),
    ...transition,
    body: reopenRequest,
    reply: transitioned,
  },
  archiveIncident: {
    ...endpoint('POST', `${INCIDENT}/archive`, 'Archive an incident'),
    ...transition,
    body: archiveRequest,
    reply: incident,
  },
  restoreIncident: {
    ...endpoint('POST', `${INCIDENT}/restore`, 'Restore an archived incident'),
    ...transition,
    needs: create.needs,
    body: archiveRequest,
    reply: incident,
  },
  listIncidentChangelog: {
    ...endpoint('GET', `${INCIDENT}/changelog`, 'List the changes of an incident'),
    tag: 'Incidents',
    ...read,
    params,
    query: z.strictObject(pageQuery),
    reply: { status: 200, body: changelogPage },
  },

  listTimelineEvents: {
    ...endpoint('GET', TIMELINE, 'List timeline events'),
    tag: 'Timeline',
    ...read,
    params,
    query: timelineQuery,
    cost: { base: 2, parameters: { q: 4 } },
    reply: { status: 200, body: timelinePage },
  },
  createTimelineEvent: {
    ...endpoint('POST', TIMELINE, 'Create a timeline event'),
    tag: 'Timeline',
    ...write,
    params,
    idempotent: true,
    body: newTimelineEvent,
    reply: { ...event, status: 201 },
  },
  getTimelineEvent: {
    ...endpoint('GET', EVENT, 'Get a timeline event'),
    tag: 'Timeline',
    ...read,
    params: eventParams,
    reply: event,
  },
  updateTimelineEvent: {
    ...endpoint('PATCH', EVENT, 'Update a timeline event'),
    tag: 'Timeline',
    ...write,
    params: eventParams,
    precondition: true,
    body: timelineEventPatch,
    reply: event,
  },
  deleteTimelineEvent: {
    ...endpoint('DELETE', EVENT, 'Delete a timeline event'),
    tag: 'Timeline',
    ...write,
    params: eventParams,
    reply: { status: 204 },
  },

  listIncidentCustomFields: {
    ...endpoint('GET', VALUES, "List an incident's custom-field values"),
    tag: 'Custom fields',
    scope: 'custom_fields:read',
    params,
    reply: values,
  },
  updateIncidentCustomFields: {
    ...endpoint('PATCH', VALUES, "Update an incident's custom-field values"),
    tag: 'Custom fields',
    ...writeValues,
    params,
    body: valuesPatch,
    reply: values,
  },
  deleteIncidentCustomField: {
    ...endpoint('DELETE', `${VALUES}/{fieldId}`, "Delete one of an incident's custom-field values"),
    tag: 'Custom fields',
    ...writeValues,
    params: params.extend({ fieldId: pathId.meta({ description: 'ID of the custom field' }) }),
    reply: values,
  },

  getIncidentProvisioning: {
    ...endpoint('GET', `${INCIDENT}/provisioning`, 'Get the chat provisioning of an incident'),
    tag: 'Chat',
    ...read,
    params,
    reply: { status: 200, body: provisioningReply },
  },
  retryIncidentProvisioning: {
    ...endpoint('POST', `${INCIDENT}/provisioning/retry`, 'Retry failed provisioning steps'),
    tag: 'Chat',
    ...write,
    params,
    body: provisioningRetry,
    bodyOptional: true,
    reply: { status: 202, body: provisioningReply },
  },
  previewIncidentChannelName: {
    ...endpoint('POST', `${CHANNEL_NAME}/preview`, "Preview the name of an incident's channel"),
    ...channel,
    // Allowed for an archived incident: a preview changes nothing.
    needs: ['active_responder', 'slack_channel'],
    ...channelName,
    reply: { status: 200, body: channelNamePreviewReply },
  },
  setIncidentChannelName: {
    ...endpoint('PATCH', CHANNEL_NAME, "Rename an incident's channel"),
    ...channel,
    errors: ['slack_channel_name_taken'],
    ...channelName,
    reply: { status: 200, body: channelNameReply },
  },
  renameIncidentChannel: {
    ...endpoint('POST', `${INCIDENT}/rename-slack-channel`, "Rename an incident's channel by the workspace's template"),
    ...channel,
    errors: ['slack_channel_name_taken', 'invalid_slack_channel_name_request'],
    deprecated: { since: '2026-11-20T00:00:00Z', sunset: '2027-11-20T00:00:00Z', successor: CHANNEL_NAME },
    reply: { status: 200, body: channelRenameReply },
  },

  listWorkflowStatuses: {
    ...endpoint('GET', '/api/v1/configuration/workflow-statuses', 'List workflow statuses'),
    tag: 'Configuration',
    ...read,
    reply: { status: 200, body: workflowStatusesReply },
  },
  listSeverities: {
    ...endpoint('GET', '/api/v1/configuration/severities', 'List severities'),
    tag: 'Configuration',
    ...read,
    reply: { status: 200, body: severitiesReply },
  },
} as const satisfies Contracts;

export type IncidentApi = Handlers<typeof contracts>;
