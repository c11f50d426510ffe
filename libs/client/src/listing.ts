/** A page of a list. */
export interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

/** A list that is read page by page while it is iterated: `for await (const run of client.runs.list({ agent_id }))`. */
export class Listing<Row> implements AsyncIterable<Row> {
  constructor(private readonly read: (cursor: string | undefined) => Promise<Page<Row>>) {}

  /** One page, for those who page themselves. */
  page(cursor?: string): Promise<Page<Row>> {
    return this.read(cursor);
  }

  /** All rows, at most `most` of them. */
  async all(most = Infinity): Promise<Row[]> {
    const rows: Row[] = [];
    if (most <= 0) return rows;
    for await (const row of this) if (rows.push(row) >= most) break;
    return rows;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Row, void, undefined> {
    let cursor: string | undefined;
    do {
      const { data, next_cursor } = await this.read(cursor);
      yield* data;
      cursor = next_cursor ?? undefined;
    } while (cursor !== undefined);
  }
}
