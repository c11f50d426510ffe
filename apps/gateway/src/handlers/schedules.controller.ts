import { Controller } from '@nestjs/common';
import { previewScheduleSchema, upcomingSlotsSchema } from '@runyard/contracts';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ANYBODY } from './access';
import { listOf, slotRow, upcomingRow } from './rows';
import { Services } from './services.adapter';

const tag = 'schedules';

/** When agents run: passed on to the scheduler. */
@Controller()
export class SchedulesController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'POST',
    path: '/v1/schedules/preview',
    name: 'schedules.preview',
    tag,
    summary: 'Preview the next slots of a schedule that need not be saved',
    description: 'Changes nothing. A schedule that never fires is refused.',
    access: ANYBODY,
    input: previewScheduleSchema,
    success: [{ status: 200, description: 'The slots in order', body: listOf('SlotList', slotRow) }],
  })
  preview(@FromRequest() call: Call): Promise<unknown> {
    return this.services.scheduler(call, 'schedules.preview');
  }

  @Route({
    method: 'GET',
    path: '/v1/agents/:agent_id/upcoming',
    name: 'schedules.upcoming',
    tag,
    summary: 'Read when an agent will run next',
    access: ANYBODY,
    input: upcomingSlotsSchema,
    success: [{ status: 200, description: 'Its next slots', body: upcomingRow }],
  })
  upcoming(@FromRequest() call: Call): Promise<unknown> {
    return this.services.scheduler(call, 'schedules.upcoming');
  }
}
