import type { Documentation } from '@tocsin/http';
import { example as followUp } from '../../follow-ups/http/documentation.ts';
import type { trackerContracts } from './contracts.ts';
import type { TrackerWire } from './wire.ts';

const tracker: TrackerWire = {
  id: 1,
  revision: 1,
  name: 'Issues of the shop',
  kind: 'github',
  url: 'https://api.github.com',
  project: 'acme/shop',
  issue_type: '',
  auto_filters: null,
  include_restricted: false,
  webhook_path: '/hooks/trackers/1',
  status: 'active',
  last_success_at: '2026-11-20T09:30:00.000Z',
  last_failure: null,
  retry_at: null,
  created_at: '2026-11-20T09:00:00.000Z',
  updated_at: '2026-11-20T09:00:00.000Z',
  archived_at: null,
};
const changed = { ...tracker, revision: 2, updated_at: '2026-11-20T09:30:00.000Z' };
const params = { id: tracker.id };
const filters = { severities: ['sev1'], services: [], team_ids: [] };
const ticket = { tracker_id: tracker.id, status: 'pending' as const, key: null, url: null, state: null, failure: null };

/** contract: Trackers */
export const trackerOperations: Documentation<typeof trackerContracts> = {
  listTrackers: {
    description: 'Returns the trackers that are not archived, oldest first.',
    reply: { trackers: [tracker] },
  },
  createTracker: {
    description:
      'Creates a tracker, in which tickets of follow-ups are made. The secret is for the webhook of the tracker, which is sent to `webhook_path` at the host of the workspace. A workspace has at most 20 that are not archived.',
    body: { name: tracker.name, kind: tracker.kind, project: tracker.project, credential: 'github_pat_11ABCDEFG0' },
    reply: { tracker: { ...tracker, last_success_at: null }, secret: 'tracksec_5pX0r0c1zq0mJ8nX6nB3Yw' },
  },
  getTracker: {
    description: 'Returns a tracker, also an archived one, as long as a follow-up has a ticket in it.',
    params,
    reply: { tracker },
  },
  updateTracker: {
    description:
      "Changes the settings that the body contains. `If-Service-Resource-Version` must be the tracker's current revision. Tickets stay where they are.",
    params,
    revision: 1,
    body: { auto_filters: filters },
    reply: { tracker: { ...changed, auto_filters: filters } },
  },
  testTracker: {
    description: 'Asks the tracker whether it knows the project, and makes nothing.',
    params,
    reply: { test: { is_accepted: true, reason: null, status: null } },
  },
  pauseTracker: {
    description: 'Asks the tracker nothing until it is resumed.',
    params,
    reply: { tracker: { ...changed, status: 'paused' } },
  },
  resumeTracker: {
    description: 'Asks the tracker again, and one that fails at once.',
    params,
    reply: { tracker: changed },
  },
  archiveTracker: {
    description: 'Ends a tracker for good, and deletes its URL, credential and secret. Its tickets stay linked.',
    params,
    reply: { tracker: { ...changed, status: 'archived', archived_at: '2026-11-20T09:30:00.000Z' } },
  },
  listUsableTrackers: {
    description: 'Returns the trackers in which tickets of follow-ups can be made, oldest first.',
    reply: { trackers: [{ id: tracker.id, name: tracker.name, kind: tracker.kind, include_restricted: false }] },
  },
  createFollowUpTicket: {
    description:
      'Has a ticket of the follow-up made in the tracker, soon after the response. If it has one already, only what has failed for it is tried again. The revision of the follow-up stays.',
    params: { id: followUp.id },
    body: { tracker_id: tracker.id },
    reply: { follow_up: { ...followUp, ticket } },
  },
  deleteFollowUpTicket: {
    description: 'Forgets the ticket of the follow-up. Nothing happens in the tracker.',
    params: { id: followUp.id },
  },
};
