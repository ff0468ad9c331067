import { type Contracts, endpoint, type Handlers, pathId } from '@tocsin/http';
import { z } from 'zod';
import { destinationList, destinationPatch, destinationReply, newDestination, testReply } from './wire.ts';

const DESTINATIONS = '/api/v1/settings/destinations';
const DESTINATION = `${DESTINATIONS}/{id}`;

const manage = { tag: 'Destinations', scope: 'webhooks:manage', needs: ['manage_settings'] } as const;
const change = { ...manage, errors: ['invalid_resource_state'] } as const;
const params = z.strictObject({ id: pathId.meta({ description: 'ID of the destination' }) });
const destination = { status: 200, body: destinationReply, versioned: true } as const;

/** contract: Destinations */
export const destinationContracts = {
  listDestinations: {
    ...endpoint('GET', DESTINATIONS, 'List destinations'),
    ...manage,
    reply: { status: 200, body: destinationList },
  },
  createDestination: {
    ...endpoint('POST', DESTINATIONS, 'Create a destination'),
    ...change,
    body: newDestination,
    reply: { ...destination, status: 201, assigned: ['destination.id'] },
  },
  getDestination: {
    ...endpoint('GET', DESTINATION, 'Get a destination'),
    ...manage,
    params,
    reply: destination,
  },
  updateDestination: {
    ...endpoint('PATCH', DESTINATION, 'Update a destination'),
    ...change,
    params,
    precondition: true,
    body: destinationPatch,
    reply: destination,
  },
  testDestination: {
    ...endpoint('POST', `${DESTINATION}/test`, 'Send a test message'),
    ...change,
    // The receiver has ten seconds, twice if it is a pager.
    deadline: 30_000,
    cost: { base: 20 },
    params,
    // Nothing is sent, so there is no answer.
    reply: {
      status: 200,
      body: testReply,
      assigned: ['test.is_accepted', 'test.reason', 'test.status', 'test.answer'],
    },
  },
  pauseDestination: {
    ...endpoint('POST', `${DESTINATION}/pause`, 'Pause a destination'),
    ...change,
    params,
    reply: destination,
  },
  resumeDestination: {
    ...endpoint('POST', `${DESTINATION}/resume`, 'Resume a destination, or try a failing one again'),
    ...change,
    params,
    reply: destination,
  },
  archiveDestination: {
    ...endpoint('POST', `${DESTINATION}/archive`, 'Archive a destination'),
    ...manage,
    params,
    reply: destination,
  },
} as const satisfies Contracts;

export type DestinationApi = Handlers<typeof destinationContracts>;
