import { type Contracts, DEFAULT_DEADLINE, endpoint, type Handlers } from '@tocsin/http';
import { FEED_SCOPES } from '../domain/feed-types.ts';
import { feedEvent } from './event-wire.ts';
import { feedQuery, feedReply, MAX_WAIT } from './wire.ts';

/** contract: Event feed */
export const feedContracts = {
  listEvents: {
    ...endpoint('GET', '/api/v1/events', 'Read the event feed'),
    tag: 'Event feed',
    scope: FEED_SCOPES,
    errors: ['cursor_expired'],
    cost: { base: 2 },
    query: feedQuery,
    wait: 1_000 * MAX_WAIT,
    deadline: 1_000 * MAX_WAIT + DEFAULT_DEADLINE,
    reply: { status: 200, body: feedReply },
    stream: feedEvent,
  },
} as const satisfies Contracts;

export type FeedApi = Handlers<typeof feedContracts>;
