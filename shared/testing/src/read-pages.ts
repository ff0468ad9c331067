import type { Client } from './client.ts';

/** What a list returns, page by page. */
export interface ReadList {
  ids: number[];
  /** For each page the bytes of its body, and how many rows it has. */
  pages: { bytes: number; rows: number }[];
}

/**
 * Reads all pages of a list with the largest limit.
 * @param name the property of the page that has the rows
 * @throws Error if a page is not 200, or says differently in two places whether there is another one
 */
export async function readPages(client: Client, path: string, name: string): Promise<ReadList> {
  const list: ReadList = { ids: [], pages: [] };
  const separator = path.includes('?') ? '&' : '?';
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const position: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { status, text, body } = await client.get(`${path}${separator}limit=100${position}`);
    if (status !== 200) throw new Error(`${status} ${text}`);
    const { has_more: hasMore, next_cursor: next, limit } = body.pagination;
    const agrees = [body.has_more ?? hasMore, next !== undefined].every((more) => more === hasMore);
    if (!agrees || limit !== 100 || (body.has_more !== undefined && body.next_cursor !== next)) {
      throw new Error(`the page contradicts itself: ${JSON.stringify({ ...body, [name]: undefined })}`);
    }
    const rows = body[name] as { id: number }[];
    list.ids.push(...rows.map(({ id }) => id));
    list.pages.push({ bytes: Buffer.byteLength(text), rows: rows.length });
    cursor = next;
  }
  return list;
}
