import { ceilTimestamp, FEED_TYPES, type Principal } from '@tocsin/schemas';
import { DEFAULT_LIMIT, invalidRequest, seesRestricted } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { z } from 'zod';
import { readableTypes } from '../domain/feed-types.ts';
import type { FeedFilter } from '../store/feed-reader.ts';
import type { feedQuery } from './wire.ts';

/** What a request wants to read, of what its key may read. */
export interface FeedRequest extends FeedFilter {
  /** A cursor, or where to begin without one. */
  start: { after: string } | { from: 'beginning' | 'now' } | { since: Instant };
  limit: number;
}

/**
 * @param lastEventId of a stream that is opened again; it counts instead of `after` and `from`
 * @throws DomainError `invalid_request` naming the parameter
 */
export function readFeedRequest(
  query: z.output<typeof feedQuery>,
  caller: Pick<Principal, 'scopes' | 'permissions'>,
  lastEventId?: string,
): FeedRequest {
  const { after, from, types, resource, limit = DEFAULT_LIMIT } = query;
  if (after !== undefined && from !== undefined) throw invalidRequest('from', 'Is only allowed without after');
  const cursor = lastEventId ?? after;
  const readable = readableTypes(caller.scopes);
  const wanted = types === undefined ? undefined : readTypes(types);
  return {
    start: cursor === undefined ? startOf(from) : { after: cursor },
    types: wanted === undefined ? readable : readable.filter((type) => wanted.has(type)),
    resource,
    seesRestricted: seesRestricted(caller),
    limit,
  };
}

function startOf(from: z.output<typeof feedQuery>['from'] = 'now'): FeedRequest['start'] {
  if (from === 'beginning' || from === 'now') return { from };
  const since = ceilTimestamp(from);
  // The schema has checked the text.
  if (since === undefined) throw new Error('a timestamp is malformed');
  return { since };
}

function readTypes(texts: readonly string[]): ReadonlySet<string> {
  const types = texts.flatMap((text) => text.split(',')).map((type) => type.trim());
  const typesOfFeed: readonly string[] = FEED_TYPES;
  if (types.some((type) => !typesOfFeed.includes(type))) {
    throw invalidRequest('types', `Must be one of ${FEED_TYPES.join(', ')}`);
  }
  return new Set(types);
}
