import { type Contracts, endpoint, type Handlers, pathId } from '@tocsin/http';
import { z } from 'zod';
import { followUpReply } from '../../follow-ups/http/wire.ts';
import { read, write } from '../../incidents/http/contracts.ts';
import {
  newTicketBody,
  newTracker,
  newTrackerReply,
  testReply,
  ticketTrackerList,
  trackerList,
  trackerPatch,
  trackerReply,
} from './wire.ts';

const TRACKERS = '/api/v1/settings/trackers';
const TRACKER = `${TRACKERS}/{id}`;
const TICKET = '/api/v1/follow-ups/{id}/ticket';

const manage = { tag: 'Trackers', scope: 'webhooks:manage', needs: ['manage_settings'] } as const;
const change = { ...manage, errors: ['invalid_resource_state'] } as const;
const params = z.strictObject({ id: pathId.meta({ description: 'ID of the tracker' }) });
const followUpParams = z.strictObject({ id: pathId.meta({ description: 'ID of the follow-up' }) });
const tracker = { status: 200, body: trackerReply, versioned: true } as const;

/** contract: Trackers */
export const trackerContracts = {
  listTrackers: {
    ...endpoint('GET', TRACKERS, 'List trackers'),
    ...manage,
    reply: { status: 200, body: trackerList },
  },
  createTracker: {
    ...endpoint('POST', TRACKERS, 'Create a tracker'),
    ...change,
    body: newTracker,
    reply: {
      ...{ status: 201, body: newTrackerReply, versioned: true },
      assigned: ['tracker.id', 'tracker.webhook_path', 'secret'],
    },
  },
  getTracker: {
    ...endpoint('GET', TRACKER, 'Get a tracker'),
    ...manage,
    params,
    reply: tracker,
  },
  updateTracker: {
    ...endpoint('PATCH', TRACKER, 'Update a tracker'),
    ...change,
    params,
    precondition: true,
    body: trackerPatch,
    reply: tracker,
  },
  testTracker: {
    ...endpoint('POST', `${TRACKER}/test`, 'Test a tracker'),
    ...change,
    deadline: 30_000,
    cost: { base: 20 },
    params,
    // Nobody is asked, so there is no answer.
    reply: { status: 200, body: testReply, assigned: ['test.is_accepted', 'test.reason', 'test.status'] },
  },
  listUsableTrackers: {
    ...endpoint('GET', '/api/v1/trackers', 'List trackers in which tickets can be made'),
    tag: 'Trackers',
    ...read,
    reply: { status: 200, body: ticketTrackerList },
  },
  createFollowUpTicket: {
    ...endpoint('POST', TICKET, 'Make a ticket of a follow-up, or try again'),
    tag: 'Trackers',
    ...write,
    params: followUpParams,
    body: newTicketBody,
    reply: { status: 202, body: followUpReply, versioned: true },
  },
  deleteFollowUpTicket: {
    ...endpoint('DELETE', TICKET, 'Unlink the ticket of a follow-up'),
    tag: 'Trackers',
    ...write,
    params: followUpParams,
    reply: { status: 204 },
  },
  pauseTracker: {
    ...endpoint('POST', `${TRACKER}/pause`, 'Pause a tracker'),
    ...change,
    params,
    reply: tracker,
  },
  resumeTracker: {
    ...endpoint('POST', `${TRACKER}/resume`, 'Resume a tracker, or ask a failing one again'),
    ...change,
    params,
    reply: tracker,
  },
  archiveTracker: {
    ...endpoint('POST', `${TRACKER}/archive`, 'Archive a tracker'),
    ...manage,
    params,
    reply: tracker,
  },
} as const satisfies Contracts;

export type TrackerApiHandlers = Handlers<typeof trackerContracts>;
