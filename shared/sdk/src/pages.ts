interface AnyPage {
  pagination: { has_more: boolean; next_cursor?: string | null | undefined };
}

/**
 * A list, which is read page by page while it is iterated: `for await (const incident of list)`. Each iteration reads it
 * anew.
 */
export class Pages<Row, Page> implements AsyncIterable<Row> {
  readonly #rows: string;
  readonly #read: (cursor?: string) => Promise<Page>;

  /** @param rows the property of a page that has its rows */
  constructor(rows: string, read: (cursor?: string) => Promise<Page>) {
    this.#rows = rows;
    this.#read = read;
  }

  /** Reads one page: the first, or that of the `cursor` in the query. */
  async page(): Promise<Page> {
    return this.#read();
  }

  /** Reads all pages from the first, or from that of the `cursor` in the query. A page may be empty. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.#read(cursor);
      yield page;
      const { has_more: hasMore, next_cursor: next } = (page as AnyPage).pagination;
      cursor = hasMore ? (next ?? undefined) : undefined;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    for await (const page of this.pages()) yield* (page as Record<string, Row[]>)[this.#rows] ?? [];
  }
}
