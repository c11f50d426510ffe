import type { CatalogueTool, ToolsEvent } from '@runyard/contracts';
import { deciderSpec } from '@runyard/testing';
import type { Asker } from './rights';
import { NO_TOOLS, decideTools, evolveTools } from './tools';
import type { Tools, ToolsCommand } from './tools';

const given = deciderSpec<Tools, ToolsCommand, ToolsEvent>({
  initial: NO_TOOLS,
  evolve: evolveTools,
  decide: decideTools,
});
const asker: Asker = { userId: 'a', roles: ['admin'] };
const tool: CatalogueTool = {
  name: 'book',
  description: 'Books',
  inputSchema: { type: 'object' },
  effect: 'write',
  idempotent: false,
  source: { kind: 'builtin', name: 'book' },
  timeoutMs: 1_000,
  endsRun: false,
  agentsAllowed: true,
};
const registered = { type: 'ToolRegistered' as const, data: { tool } };
const revised = { type: 'ToolRevised' as const, data: { tool: { ...tool, agentsAllowed: false } } };
const removed = { type: 'ToolRemoved' as const, data: { name: 'book' } };

describe('the tool catalogue', () => {
  it('registers a tool once', () => {
    given().when({ type: 'RegisterTool', asker, tool }).then(registered);
    given(registered).when({ type: 'RegisterTool', asker, tool }).thenNothing();
    given(registered)
      .when({ type: 'RegisterTool', asker, tool: { ...tool, effect: 'read' } })
      .thenRefused('already_exists');
  });

  it('revises it, but not its name', () => {
    given(registered)
      .when({ type: 'ReviseTool', asker, name: 'book', changes: { agentsAllowed: false, name: 'x' } })
      .then(revised);
    given(registered, revised)
      .when({ type: 'ReviseTool', asker, name: 'book', changes: { agentsAllowed: false } })
      .thenNothing();
    given().when({ type: 'ReviseTool', asker, name: 'book', changes: {} }).thenRefused('not_found');
  });

  it('removes it once, and takes it for another one when it returns', () => {
    given(registered).when({ type: 'RemoveTool', asker, name: 'book' }).then(removed);
    given(registered, removed).when({ type: 'RemoveTool', asker, name: 'book' }).thenNothing();
    const again = [registered, removed, registered].reduce(
      (tools, event) => evolveTools(tools, { ...event, time: 0, actor: 'system:t' } as ToolsEvent),
      NO_TOOLS,
    );
    expect(again.entries.book?.row).toBe(2);
  });

  it('is changed by admins alone', () => {
    given()
      .when({ type: 'RegisterTool', asker: { userId: 'b', roles: ['member', 'operator'] }, tool })
      .thenRefused('forbidden');
    given()
      .when({ type: 'RemoveTool', asker: { userId: 'b', roles: [] }, name: 'book' })
      .thenRefused('forbidden');
  });
});
