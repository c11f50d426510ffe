import { Problem, isCoreTool } from '@runyard/contracts';
import type { CatalogueTool, ToolsEvent } from '@runyard/contracts';
import type { Decided } from './decision';
import { requireAdmin } from './rights';
import type { Asker } from './rights';
import { same } from './same';

export interface ToolEntry {
  tool: CatalogueTool;
  /** The how-manieth time that a tool of this name was registered. */
  row: number;
}

/** The org's tool catalogue. */
export interface Tools {
  entries: Readonly<Record<string, ToolEntry>>;
  /** Incarnations so far by name, removed tools included. */
  incarnations: Readonly<Record<string, number>>;
}

export const NO_TOOLS: Tools = { entries: {}, incarnations: {} };

export type ToolsCommand = { asker: Asker } & (
  | { type: 'RegisterTool'; tool: CatalogueTool }
  | { type: 'ReviseTool'; name: string; changes: Partial<CatalogueTool> }
  | { type: 'RemoveTool'; name: string }
);
export type ToolsDecision = Decided<ToolsEvent>;

export function evolveTools(tools: Tools, event: ToolsEvent): Tools {
  switch (event.type) {
    case 'ToolRegistered': {
      const { tool } = event.data;
      const row = (tools.incarnations[tool.name] ?? 0) + 1;
      return {
        incarnations: { ...tools.incarnations, [tool.name]: row },
        entries: { ...tools.entries, [tool.name]: { tool, row } },
      };
    }
    case 'ToolRevised': {
      const { tool } = event.data;
      const row = tools.entries[tool.name]?.row ?? 1;
      return { ...tools, entries: { ...tools.entries, [tool.name]: { tool, row } } };
    }
    case 'ToolRemoved': {
      const { [event.data.name]: _gone, ...entries } = tools.entries;
      return { ...tools, entries };
    }
    default:
      return event satisfies never;
  }
}

export function decideTools(tools: Tools, command: ToolsCommand): ToolsDecision[] {
  requireAdmin(command.asker, 'change the tool catalogue');
  switch (command.type) {
    case 'RegisterTool': {
      if (isCoreTool(command.tool.name))
        throw new Problem(
          'already_exists',
          `${command.tool.name} is a core tool, which every agent has; choose another name`,
        );
      const there = tools.entries[command.tool.name]?.tool;
      if (!there) return [{ type: 'ToolRegistered', data: { tool: command.tool } }];
      if (same(there, command.tool)) return [];
      throw new Problem(
        'already_exists',
        `There is a tool ${there.name} in the catalogue already; update it, or choose another name`,
      );
    }
    case 'ReviseTool': {
      const there = tools.entries[command.name]?.tool;
      if (!there) throw new Problem('not_found', `There is no tool ${command.name} in the catalogue`);
      const tool = { ...there, ...command.changes, name: there.name };
      return same(tool, there) ? [] : [{ type: 'ToolRevised', data: { tool } }];
    }
    case 'RemoveTool':
      return tools.entries[command.name] ? [{ type: 'ToolRemoved', data: { name: command.name } }] : [];
    default:
      return command satisfies never;
  }
}
