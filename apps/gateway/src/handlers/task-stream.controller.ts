import { Controller, Inject, StreamableFile } from '@nestjs/common';
import { Answer, FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { BoardStreams } from '../stream/board-streams';
import { ANYBODY } from './access';
import { EVENT_STREAM, STREAM_HEADERS, wantsStream } from './event-stream';
import { boardEvents } from './run-inputs';
import { taskEventPage } from './task-rows';

/** Watching a board. */
@Controller()
export class TaskStreamController {
  constructor(@Inject(BoardStreams) private readonly boards: BoardStreams) {}

  @Route({
    method: 'GET',
    path: '/v1/tasks/events',
    name: 'tasks.events',
    tag: 'tasks',
    summary: 'Watch or read the changes of the board',
    description:
      '`Accept: text/event-stream` streams changes (`task-event`) from now on, or after `Last-Event-ID` or `after`, and `caught-up` once. Open it first, then read the board: nothing is missed. Otherwise a page of changes as JSON.',
    access: ANYBODY,
    input: boardEvents,
    success: [{ status: 200, description: 'A page of changes, or the stream of them', body: taskEventPage }],
    problems: ['invalid_cursor', 'cursor_expired'],
  })
  async events(@FromRequest() call: Call<{ after?: string; limit: number }>): Promise<Answer> {
    const { after, limit } = call.input;
    // On a reconnect the header is newer than the address that EventSource was opened with.
    const cursor = call.headers['last-event-id'] || after;
    if (!wantsStream(call)) return new Answer(await this.boards.page(call, cursor, limit));
    const body = new StreamableFile(await this.boards.open(call, cursor), {
      type: `${EVENT_STREAM}; charset=utf-8`,
    });
    return new Answer(body, { status: 200, headers: STREAM_HEADERS });
  }
}
