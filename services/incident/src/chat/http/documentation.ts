import type { Documentation } from '@tocsin/http';
import type { chatContracts } from './contracts.ts';

/** `INC-2` of the sample workspace, for which a channel was requested. */
const params = { id: 2 };
const NAME = 'inc-2-index';
const times = { created_at: '2026-11-20T09:30:00.000Z', updated_at: '2026-11-20T09:30:16.000Z' };

/** contract: Chat */
export const chatOperations: Documentation<typeof chatContracts> = {
  getIncidentProvisioning: {
    description:
      'Returns how far the work in Slack is that a create has requested: the channel, and the invitation of user groups. A failed step names the reason in `error_code`.',
    params,
    reply: {
      provisioning: {
        incident_id: 2,
        status: 'failed',
        steps: [
          {
            key: 'slack_channel',
            status: 'failed',
            attempts: 1,
            error_code: 'slack_not_configured',
            updated_at: times.updated_at,
          },
          { key: 'invite_usergroups', status: 'not_requested', attempts: 0, updated_at: times.created_at },
        ],
        ...times,
      },
    },
  },
  requestIncidentProvisioning: {
    description:
      'Requests a channel for an incident that has none and for which none was requested. The work in Slack is done after the response, as that of a create.',
    params: { id: 1 },
    body: { invite_usergroups: ['sre-oncall'] },
    reply: {
      provisioning: {
        incident_id: 1,
        status: 'pending',
        steps: [
          { key: 'slack_channel', status: 'pending', attempts: 0, updated_at: times.created_at },
          { key: 'invite_usergroups', status: 'pending', attempts: 0, updated_at: times.created_at },
        ],
        created_at: times.created_at,
        updated_at: times.created_at,
      },
    },
  },
  retryIncidentProvisioning: {
    description:
      'Runs failed steps again, or those of them that `steps` lists. However often a step runs, an incident gets one channel.',
    params,
    body: { steps: ['slack_channel'] },
    reply: {
      provisioning: {
        incident_id: 2,
        status: 'pending',
        steps: [
          { key: 'slack_channel', status: 'pending', attempts: 0, updated_at: times.updated_at },
          { key: 'invite_usergroups', status: 'not_requested', attempts: 0, updated_at: times.created_at },
        ],
        ...times,
      },
    },
  },
  previewIncidentChannelName: {
    description:
      "Returns the name that a rename would give the incident's channel, and whether it is available as far as the connection can see. It changes nothing, so it is allowed for archived incidents.",
    params,
    body: { mode: 'workspace_template' },
    reply: { channel_name: 'inc-2-search', current_name: 'inc-2-search', mode: 'workspace_template', available: true },
  },
  setIncidentChannelName: {
    description:
      "Renames the incident's channel, to a name of your own or to the one that the workspace's template produces. The incident's revision does not change.",
    params,
    body: { mode: 'custom', name: NAME },
    reply: { channel_name: NAME, channel_id: 'C0123456789', mode: 'custom', changed: true },
  },
  renameIncidentChannel: {
    description:
      "Renames the incident's channel by the workspace's template. Use the PATCH of the channel name instead.",
    params,
    reply: { channel_name: 'inc-2-search' },
  },
};
