import type { ToolDefinition } from '@runyard/contracts';
import { toolNames } from './tool-names';

const tool = (name: string): ToolDefinition => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  effect: 'read',
  idempotent: true,
  source: { kind: 'builtin', name },
  timeoutMs: 1_000,
  endsRun: false,
});

describe('tool names on the wire', () => {
  it.each(['toString', 'constructor', 'hasOwnProperty'])(
    '%s is renamed both ways, because provider packages look names up in plain objects',
    (name) => {
      const names = toolNames([tool(name)]);
      expect(names.toWire(name)).toBe(`${name}_`);
      expect(names.fromWire(`${name}_`)).toBe(name);
      // One that the model made up stands in the dialog of every later request.
      expect(toolNames([tool('grep')]).toWire(name)).toBe(`${name}_`);
    },
  );

  it('stay as they are where endpoints take them, and differ where they would become equal', () => {
    const names = toolNames([tool('files.read'), tool('files_read'), tool('grep')]);
    expect(['grep', 'files_read', 'files.read'].map((name) => names.toWire(name))).toEqual([
      'grep',
      'files_read',
      'files_read_2',
    ]);
    expect(names.fromWire('files_read_2')).toBe('files.read');
  });
});
