import type { z } from 'zod';
import { type InternalClient, UnexpectedStatus } from './internal-client.ts';

/** A call of an owner's changes, by path and the schema of its response. */
interface ChangesCall<Schema extends z.ZodType> {
  path: string;
  schema: Schema;
}

/**
 * Returns a function that gets a page of an owner's changes. An owner of the previous release has no pages and answers 404;
 * then all changes are one page.
 */
export function pagesOrAll<Page extends z.ZodType, All extends z.ZodType>(
  client: InternalClient,
  calls: {
    pages: ChangesCall<Page>;
    all: ChangesCall<All>;
    toPage: (all: z.output<All>) => z.output<Page>;
  },
) {
  const { pages, all, toPage } = calls;
  return async (from: { workspaceId: number; since: number; after?: string | undefined }): Promise<z.output<Page>> => {
    const query = { workspace_id: from.workspaceId, since: from.since };
    try {
      return await client.get(pages.path, { ...query, after: from.after }, pages.schema);
    } catch (error) {
      if (!(error instanceof UnexpectedStatus) || error.status !== 404) throw error;
      return toPage(await client.get(all.path, query, all.schema));
    }
  };
}
