import { z } from 'zod';

/** A moment: RFC 3339, UTC, three decimals. */
export const instant = z.iso.datetime({ precision: 3 });

const id = z.int().min(1);

/** The workspace that an event belongs to. `is_demo` workspaces send no webhooks. */
export const eventWorkspace = z.object({ id, slug: z.string(), is_demo: z.boolean() });

/**
 * The format of every message on the exchange (contract: Events on the broker). `id` is also the AMQP message ID, and
 * `type` the routing key. Consumers deduplicate by `id` and ignore unknown members.
 */
export const envelope = z.object({
  id: z.uuid(),
  type: z.string().min(1),
  schema_version: z.literal(1),
  occurred_at: instant,
  workspace: eventWorkspace,
  request_id: z.string().nullable(),
  data: z.unknown(),
});

export type Envelope<Data = unknown> = Omit<z.infer<typeof envelope>, 'data'> & { data: Data };
export type EventWorkspace = z.infer<typeof eventWorkspace>;
