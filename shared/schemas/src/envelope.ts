import { z } from 'zod';

/** A moment: RFC 3339, UTC, three decimals. */
export const instant = z.iso.datetime({ precision: 3 });

const id = z.int().min(1);

/** The workspace that an event belongs to. `is_demo` workspaces send no webhooks. */
export const eventWorkspace = z.object({
  id: id.meta({ description: 'ID of the workspace' }),
  slug: z.string().meta({ description: 'The first label of its host name' }),
  is_demo: z.boolean().meta({ description: 'Whether it is a demo, which sends no webhooks' }),
});

/**
 * The format of every message on the exchange (contract: Events on the broker). `id` is also the AMQP message ID, and
 * `type` the routing key. Consumers deduplicate by `id` and ignore unknown members.
 */
export const envelope = z.object({
  id: z
    .uuid()
    .meta({ description: 'ID of the event and of the message; the same in every delivery: deduplicate by it' }),
  type: z.string().min(1).meta({ description: 'Type of the event, also the routing key' }),
  schema_version: z.literal(1).meta({ description: 'The version of this format' }),
  occurred_at: instant.meta({ description: 'When it happened' }),
  workspace: eventWorkspace.meta({ description: 'The workspace that the event belongs to' }),
  request_id: z
    .string()
    .nullable()
    .meta({ description: 'The request that caused the event, as in `X-Request-ID`; null: no request did' }),
  restricted: z.boolean().optional().meta({
    description: 'Whether it is about a restricted incident, which few may see; absent: it is not',
  }),
  data: z.unknown().meta({ description: 'What happened; its form depends on type' }),
});

export type Envelope<Data = unknown> = Omit<z.infer<typeof envelope>, 'data'> & { data: Data };
export type EventWorkspace = z.infer<typeof eventWorkspace>;
