import { FEED_TYPES, timestampText } from '@tocsin/schemas';
import { DEFAULT_LIMIT, schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { feedEvent } from './event-wire.ts';
import { RESOURCE_KINDS } from '../domain/feed-types.ts';

const MAX_CURSOR = 4_096;
/** More than there are types. */
const MAX_TYPES = 100;
/** Several types, separated by commas. */
const MAX_TYPES_TEXT = 2_048;

/** Seconds. */
export const MAX_WAIT = 20;

/** The query parameters of the event feed (contract: Event feed). */
export const feedQuery = z.strictObject({
  after: z.string().min(1).max(MAX_CURSOR).optional().meta({
    description: 'A `next_cursor` of the feed, unchanged: the events behind it. Not allowed with from',
  }),
  from: z
    .union([
      z.enum(['beginning', 'now']),
      timestampText('Must be beginning, now, or an RFC 3339 timestamp with a time zone'),
    ])
    .optional()
    .meta({
      description:
        'Where to begin without a cursor: with the oldest event that the feed has, behind the latest one, or with the first that was recorded at a time or later; default: now',
      default: 'now',
    }),
  types: z
    .array(z.string().max(MAX_TYPES_TEXT))
    .max(MAX_TYPES)
    .optional()
    .meta({
      description: `Types of events, also several in one value, separated by commas: ${FEED_TYPES.join(', ')}; default: any`,
    }),
  resource: z
    .string()
    .regex(
      new RegExp(`^(?:${RESOURCE_KINDS.join('|')}):[1-9]\\d{0,14}$`),
      `Must be one of ${RESOURCE_KINDS.join(', ')}, a colon and an ID`,
    )
    .optional()
    .meta({
      description:
        'The resource that the events are about, as `<kind>:<id>`: `incident:12` has the events of the incident, of its timeline and of its follow-ups; default: any',
    }),
  limit: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: `The most events of a page; default: ${DEFAULT_LIMIT}`, default: DEFAULT_LIMIT }),
  wait: z.int().min(0).max(MAX_WAIT).optional().meta({
    description: 'Seconds that the request may wait if there are no events; default: 0',
    default: 0,
  }),
});

const feedPagination = z
  .strictObject({
    limit: z.int().min(1).max(100).meta({ description: 'The page size used: the requested one or the default' }),
    has_more: z.boolean().meta({ description: 'Whether there are further events now' }),
    next_cursor: z.string().meta({ description: 'The cursor to continue with; always present' }),
  })
  .meta({ id: 'FeedPagination' });

export const feedReply = z.strictObject({
  events: z.array(feedEvent).meta({ description: 'Events in the order of the feed; possibly none' }),
  pagination: schemaReference(feedPagination, 'The size of this page, and where the next one begins'),
});
